// SPDX-License-Identifier: GPL-2.0
/*
 * First process of a test kernel. Mounts an overlay of tmpfs over the host's root
 * file system (9p under QEMU, hostfs under UML), enters it, runs the guest script
 * as its only child, reaps orphans, and powers off.
 *
 * Under QEMU it starts in an initramfs, whose directory /modules has the modules
 * that are needed to mount the root, in the order of their names.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	reboot(RB_AUTOBOOT);
	_exit(1);
}

static void die(const char *what)
{
	fprintf(stderr, "preinit: %s: %s\n", what, strerror(errno));
	power_off();
}

static void mount_or_die(const char *src, const char *dir, const char *type,
			 unsigned long flags, const char *data)
{
	if (mount(src, dir, type, flags, data))
		die(dir);
}

static void load_module(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) && errno != EEXIST))
		die(path);
	close(fd);
}

/* Load the modules and mount the host's root. Returns a directory to mount the tmpfs on. */
static const char *prepare_initramfs(void)
{
	struct dirent **names;
	char path[512];
	int i, n;

	n = scandir("/modules", &names, NULL, alphasort);
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "/modules/%s", names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			load_module(path);
	}
	mkdir("/host", 0755);
	mkdir("/layer", 0755);
	mount_or_die("hostroot", "/host", "9p", MS_RDONLY,
		     "trans=virtio,version=9p2000.L,msize=512000,cache=loose");
	return "/layer";
}

static void enter_root(const char *layer, const char *lower)
{
	char options[256];

	mount_or_die("layer", layer, "tmpfs", 0, "mode=755,size=75%");
	if (chdir(layer) || mkdir("upper", 0755) || mkdir("work", 0755) ||
	    mkdir("root", 0755))
		die(layer);
	snprintf(options, sizeof(options),
		 "lowerdir=%s,upperdir=%s/upper,workdir=%s/work", lower, layer, layer);
	mount_or_die("root", "root", "overlay", 0, options);
	if (chdir("root"))
		die("root");
	mount_or_die("proc", "proc", "proc", 0, NULL);
	mount_or_die("sys", "sys", "sysfs", 0, NULL);
	mount_or_die("dev", "dev", "devtmpfs", 0, NULL);
	mount_or_die(".", "/", NULL, MS_MOVE, NULL);
	if (chroot(".") || chdir("/"))
		die("chroot");
}

/* Keep static keys enabled while the machine runs. Otherwise each test that opens and
 * closes the only UDP socket with GRO, or the only one with time stamps, makes the
 * kernel patch its text, and an emulated CPU may hit the breakpoint of the patch after
 * its handler is gone: "Oops: int3" in udp_destroy_sock() and netif_rx_internal(), on
 * Linux 6.12.
 */
static void hold_keys(void)
{
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0), one = 1;

	if (fd < 0 || setsockopt(fd, SOL_UDP, UDP_GRO, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMP, &one, sizeof(one)))
		die("static keys");
}

int main(void)
{
	/* The kernel passes unknown NAME=VALUE arguments in the environment. */
	const char *script = getenv("sstp_guest");
	const char *job = getenv("sstp_job");
	int fd, status;
	pid_t child;

	if (!access("/modules", F_OK)) {
		enter_root(prepare_initramfs(), "/host");
		hold_keys();
	} else {
		enter_root("/tmp", "/");
	}

	fd = open("/dev/console", O_RDWR);
	if (fd < 0)
		fd = open("/dev/null", O_RDWR);
	dup2(fd, 0);
	dup2(fd, 1);
	dup2(fd, 2);
	if (fd > 2)
		close(fd);

	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		clearenv();
		setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
		setenv("HOME", "/root", 1);
		setenv("TERM", "dumb", 1);
		setsid();
		execl("/bin/bash", "bash", script ? script : "", job, NULL);
		die("bash");
	}
	while (wait(&status) != child)
		;
	if (status)
		fprintf(stderr, "preinit: the guest script ended with status %#x\n", status);
	power_off();
}
