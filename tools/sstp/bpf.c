// SPDX-License-Identifier: GPL-2.0
/*
 * Loads controllers in BPF. libbpf opens the file, finds members of structs by their names
 * (CO-RE) and loads the programs; since it loads struct_ops of modules only from 1.4 on, and says
 * little when they do not fit, the rest is done here.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf.h"
#include "sstp.h"

#define MODULE		"sstp"
#define LACK		"/sys/kernel/sstp/bpf"
#define VALUE_PREFIX	"bpf_struct_ops_"
#define PLUGINS		8		/* in a file */
#define CALLBACKS	32		/* of a plug-in */
#define LOG		(64 << 10)

/* Numbers of Linux 6.9, which older headers lack */
#define MAP_TYPE_STRUCT_OPS	26
#define MAP_FLAG_LINK		(1U << 13)
#define MAP_FLAG_VTYPE_BTF	(1U << 15)
#define ATTACH_STRUCT_OPS	44

struct map_create {
	uint32_t map_type, key_size, value_size, max_entries, map_flags, inner_map_fd, numa_node;
	char	map_name[16];
	uint32_t map_ifindex, btf_fd, btf_key_type_id, btf_value_type_id,
		 btf_vmlinux_value_type_id;
	uint64_t map_extra;
	int32_t	value_type_btf_obj_fd, map_token_fd;
};

/* A plug-in of the file */
struct plugin {
	char name[SSTP_NAME_MAX];
	uint32_t type;			/* struct of its operations, in the module's BTF */
	uint32_t value_type;		/* what the map has */
	unsigned char *value;		/* as the kernel wants it, but for the programs */
	size_t size;			/* of @value */
	struct callback {
		const char *program;
		unsigned int member;	/* number in the operations */
		size_t at;		/* in @value */
	} callbacks[CALLBACKS];
	unsigned int n;
};

static struct {
	const char *path;
	struct elf_ops elf;
	struct bpf_object *object;
	struct btf *vmlinux, *module;
	int module_fd;
	struct plugin plugins[PLUGINS];
	unsigned int n;
	char log[LOG];			/* what libbpf and the verifier say */
	size_t logged;
} l;

static int keep_log(enum libbpf_print_level level, const char *format, va_list args)
{
	int n;

	if (level == LIBBPF_DEBUG)
		return 0;
	n = vsnprintf(l.log + l.logged, sizeof(l.log) - l.logged, format, args);
	if (n > 0)
		l.logged += n < (int)(sizeof(l.log) - l.logged) ? n :
			    (int)(sizeof(l.log) - l.logged) - 1;
	return n;
}

/* Exit if the module, or the kernel, has no BPF, and say why. */
static void check_kernel(void)
{
	char why[256] = "";
	FILE *f = fopen(LACK, "re");

	if (!f && access("/sys/module/" MODULE, F_OK))
		die("the kernel module sstp is not loaded: modprobe sstp");
	if (!f)
		die("the kernel module sstp is of a version without BPF");
	if (!fgets(why, sizeof(why), f))
		why[0] = 0;
	fclose(f);
	why[strcspn(why, "\n")] = 0;
	if (strcmp(why, "yes"))
		die("no controllers in BPF: %s", *why ? why : "the module does not say why");
}

static void open_module(void)
{
	uint32_t id = 0, len;

	l.vmlinux = btf__load_vmlinux_btf();
	if (!l.vmlinux)
		die("no BTF of the kernel in /sys/kernel/btf: %s", strerror(errno));
	l.module = btf__load_module_btf(MODULE, l.vmlinux);
	if (!l.module)
		die("no BTF of the module in /sys/kernel/btf: %s", strerror(errno));
	while (!bpf_btf_get_next_id(id, &id)) {
		char name[32] = "";
		struct bpf_btf_info info = { .name = (uintptr_t)name, .name_len = sizeof(name) };
		int fd = bpf_btf_get_fd_by_id(id);

		len = sizeof(info);
		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &len) && info.kernel_btf &&
		    !strcmp(name, MODULE)) {
			l.module_fd = fd;
			return;
		}
		close(fd);
	}
	if (errno == EPERM)
		die(BPF_NOT_PERMITTED);
	die("the kernel does not show the BTF of the module: %s", strerror(errno));
}

static const struct btf_type *resolve(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);
	return t;
}

static const struct btf_type *prototype(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = resolve(btf, id);

	t = t && btf_is_ptr(t) ? resolve(btf, t->type) : NULL;
	return t && btf_is_func_proto(t) ? t : NULL;
}

static const char *pointee(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = resolve(btf, id);

	t = t && btf_is_ptr(t) ? resolve(btf, t->type) : t;
	return t ? btf__name_by_offset(btf, t->name_off) : "";
}

/* Is @a, maybe with a suffix ___, the name @b? */
static bool same_struct(const char *a, const char *b)
{
	size_t n, m = strlen(b);

	for (n = 0; a[n] && strncmp(a + n, "___", 3); n++)
		;
	return n == m && !strncmp(a, b, n);
}

/* Do two callbacks take the same structs? */
static bool same_arguments(const struct btf *a, const struct btf_type *at, const struct btf *b,
			   const struct btf_type *bt)
{
	unsigned int i;

	if (btf_vlen(at) != btf_vlen(bt))
		return false;
	for (i = 0; i < btf_vlen(at); i++)
		if (!same_struct(pointee(a, btf_params(at)[i].type),
				 pointee(b, btf_params(bt)[i].type)))
			return false;
	return true;
}

static bool is_zero(const unsigned char *data, size_t n)
{
	while (n && !*data)
		data++, n--;
	return !n;
}

/* The program at offset @at of the section, or NULL */
static const char *program_at(size_t at)
{
	unsigned int i;

	for (i = 0; i < l.elf.n; i++)
		if (l.elf.callbacks[i].at == at)
			return l.elf.callbacks[i].program;
	return NULL;
}

/* A program is loaded for one callback only. */
static void take_callback(struct plugin *p, const char *program, unsigned int member, size_t at)
{
	const struct callback *c;
	unsigned int i, j;

	for (i = 0; i < l.n; i++)
		for (j = 0; j < l.plugins[i].n; j++) {
			c = &l.plugins[i].callbacks[j];
			if (!strcmp(c->program, program) &&
			    (l.plugins[i].type != p->type || c->member != member))
				die("%s: program %s is of two callbacks", l.path, program);
		}
	if (p->n == CALLBACKS)
		die("%s: more than %d callbacks", l.path, CALLBACKS);
	p->callbacks[p->n].program = program;
	p->callbacks[p->n].member = member;
	p->callbacks[p->n++].at = at;
}

/* Copy member @m of the struct @name at offset @at of the section to where the module has it. */
static void take_member(struct plugin *p, const struct btf *btf, const char *name,
			const struct btf_member *m, size_t at, size_t data)
{
	const char *member = btf__name_by_offset(btf, m->name_off);
	const struct btf_type *t = btf__type_by_id(l.module, p->type), *ours, *theirs;
	long long size = btf__resolve_size(btf, m->type);
	const struct btf_member *k = btf_members(t);
	const char *program;
	unsigned int i;

	at += m->offset / 8;
	program = program_at(at);
	if (size < 0 || at > l.elf.len || (size_t)size > l.elf.len - at)
		die("%s: %s.%s is not in the section", l.path, name, member);
	if (!program && is_zero(l.elf.data + at, size))
		return;
	for (i = 0; i < btf_vlen(t); i++)
		if (!strcmp(member, btf__name_by_offset(l.module, k[i].name_off)))
			break;
	if (i == btf_vlen(t))
		die("%s is for another version of the module, whose struct %s has no %s", l.path,
		    name, member);
	ours = prototype(btf, m->type);
	theirs = prototype(l.module, k[i].type);
	if (!program != !theirs ||
	    (theirs && (!ours || !same_arguments(btf, ours, l.module, theirs))) ||
	    (!theirs && btf__resolve_size(l.module, k[i].type) != size))
		die("%s is for another version of the module, whose %s.%s is of another type",
		    l.path, name, member);
	data += k[i].offset / 8;
	if (program) {
		take_callback(p, program, i, data);
		return;
	}
	memcpy(p->value + data, l.elf.data + at, size);
	if (!strcmp(member, "name"))
		snprintf(p->name, sizeof(p->name), "%.*s", SSTP_NAME_MAX - 1,
			 (const char *)p->value + data);
}

/* Copy the name of a struct without a suffix ___, which tells variants of it apart. */
static void struct_name(char *to, size_t room, const char *name)
{
	const char *end = strstr(name, "___");

	snprintf(to, room, "%.*s", end ? (int)(end - name) : (int)strlen(name), name);
}

/* Take the plug-in of type @id at offset @at of the section. */
static void take_plugin(const struct btf *btf, uint32_t id, size_t at)
{
	const struct btf_type *t = resolve(btf, id), *value;
	char name[64], value_name[128];
	struct plugin *p = &l.plugins[l.n];
	int type, value_type;
	unsigned int i;
	size_t data;

	if (l.n++ == PLUGINS)
		die("%s: more than %d controllers", l.path, PLUGINS);
	struct_name(name, sizeof(name), t ? btf__name_by_offset(btf, t->name_off) : "");
	snprintf(value_name, sizeof(value_name), VALUE_PREFIX "%s", name);
	type = btf__find_by_name_kind(l.module, name, BTF_KIND_STRUCT);
	value_type = btf__find_by_name_kind(l.module, value_name, BTF_KIND_STRUCT);
	value = value_type > 0 ? btf__type_by_id(l.module, value_type) : NULL;
	if (!t || !btf_is_struct(t) || type < 0 || !value || btf_vlen(value) != 2)
		die("%s: the module takes no struct '%s' from BPF", l.path, name);
	data = btf_members(value)[1].offset / 8;
	p->type = type;
	p->value_type = value_type;
	p->size = value->size;
	p->value = calloc(1, p->size);
	if (!p->value)
		die("no memory");
	for (i = 0; i < btf_vlen(t); i++)
		take_member(p, btf, name, &btf_members(t)[i], at, data);
	if (strpbrk(p->name, BPF_PIN_NEVER))
		die("%s: the name '%s' must not have '.' or '/', as it becomes a file in "
		    BPF_PIN_DIR, l.path, p->name);
}

static void take_plugins(void)
{
	const struct btf *btf = bpf_object__btf(l.object);
	const struct btf_var_secinfo *v;
	const struct btf_type *t;
	unsigned int i;
	int id;

	id = btf ? btf__find_by_name_kind(btf, BPF_OPS_SECTION, BTF_KIND_DATASEC) : -1;
	if (id < 0)
		die("%s has no BTF: compile it with -g", l.path);
	t = btf__type_by_id(btf, id);
	for (i = 0, v = btf_var_secinfos(t); i < btf_vlen(t); i++, v++)
		take_plugin(btf, btf__type_by_id(btf, v->type)->type, v->offset);
}

/* libbpf calls this before it loads a program: say which callback it is. */
static int prepare(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	const char *name = bpf_program__name(prog);
	unsigned int i, j;

	(void)cookie;
	for (i = 0; i < l.n; i++)
		for (j = 0; j < l.plugins[i].n; j++) {
			if (strcmp(l.plugins[i].callbacks[j].program, name))
				continue;
			opts->attach_btf_id = l.plugins[i].type;
			opts->attach_btf_obj_fd = l.module_fd;
			opts->expected_attach_type = l.plugins[i].callbacks[j].member;
			return 0;
		}
	die("%s: no controller has the callback %s", l.path, name);
}

/* If the log has @before, print @message with the word after it, up to one of @end, and exit. */
static void explain(const char *before, const char *end, const char *message)
{
	char *at = strstr(l.log, before), *variant;

	if (!at)
		return;
	at += strlen(before);
	at[strcspn(at, end)] = 0;
	/* A variant of a struct has the name of the struct, ___ and more. */
	variant = strstr(at, "___");
	if (variant)
		memmove(variant, variant + strcspn(variant, "."),
			strlen(variant + strcspn(variant, ".")) + 1);
	die("%s is for another version of the module, which %s %s", l.path, message, at);
}

static void load_failed(int err)
{
	const char *type;

	/* "... <byte_off> [7] struct sstp_ctrl_sample.later (0:3 @ offset 12)" */
	type = strstr(l.log, "failed to resolve CO-RE relocation");
	if (type) {
		memmove(l.log, type, strlen(type) + 1);
		explain("] struct ", " \n", "has no");
	}
	explain("extern (func ksym) '", "'", "has no function");
	explain("attach to unsupported member ", " \n", "does not take the callback");
	if (err == -EPERM)
		die(BPF_NOT_PERMITTED);
	fputs(l.log, stderr);
	die("%s: the kernel refuses it: %s", l.path, strerror(-err));
}

static int make_map(struct plugin *p)
{
	struct map_create a = {
		.map_type = MAP_TYPE_STRUCT_OPS,
		.key_size = sizeof(uint32_t),
		.value_size = p->size,
		.max_entries = 1,
		.map_flags = MAP_FLAG_LINK | MAP_FLAG_VTYPE_BTF,
		.btf_fd = bpf_object__btf_fd(l.object),
		.btf_vmlinux_value_type_id = p->value_type,
		.value_type_btf_obj_fd = l.module_fd,
	};
	uint32_t zero = 0;
	unsigned int i;
	int fd, prog;

	for (i = 0; i < p->n; i++) {
		prog = bpf_program__fd(bpf_object__find_program_by_name(l.object,
									p->callbacks[i].program));
		if (prog < 0)
			die("%s: no program %s", l.path, p->callbacks[i].program);
		*(uint64_t *)(p->value + p->callbacks[i].at) = prog;
	}
	fd = syscall(SYS_bpf, BPF_MAP_CREATE, &a, sizeof(a));
	if (fd < 0)
		die("%s: no struct_ops map: %s", p->name, strerror(errno));
	if (bpf_map_update_elem(fd, &zero, p->value, 0))
		die("%s: the module does not take its members: %s", p->name, strerror(errno));
	return fd;
}

static void register_plugin(struct plugin *p)
{
	int map = make_map(p), link;
	char path[128];

	snprintf(path, sizeof(path), BPF_PIN_DIR "/%s", p->name);
	link = bpf_link_create(map, 0, ATTACH_STRUCT_OPS, NULL);
	if (link < 0 && errno == EEXIST)
		die("a controller '%s' is registered already", p->name);
	if (link < 0 && errno == EINVAL)
		die("'%s': the module does not take its name, a parameter or a name of its state, "
		    "or it has no init, or neither on_ack nor on_loss", p->name);
	if (link < 0 && errno == EPERM)
		die(BPF_NOT_PERMITTED);
	if (link < 0)
		die("cannot register '%s': %s", p->name, strerror(errno));
	if (mkdir(BPF_PIN_DIR, 0755) && errno != EEXIST)
		die(BPF_PIN_DIR ": %s (mount -t bpf bpf /sys/fs/bpf)", strerror(errno));
	if (bpf_obj_pin(link, path))
		die("cannot keep '%s' loaded: %s: %s", p->name, path, strerror(errno));
	close(link);
	close(map);
	printf("%s\n", p->name);
}

void bpf_load(const char *path)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, handler, .prog_prepare_load_fn = prepare);
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "sstp");
	static bool registered;
	unsigned int i;
	int err;

	for (i = 0; i < l.n; i++)
		free(l.plugins[i].value);
	memset(&l, 0, sizeof(l));
	l.path = path;
	check_kernel();
	elf_ops(&l.elf, path);
	open_module();
	libbpf_set_print(keep_log);
	/* It stays registered for the next file. */
	if (!registered)
		libbpf_register_prog_handler("struct_ops+", BPF_PROG_TYPE_STRUCT_OPS, 0,
					     &handler);
	registered = true;
	l.object = bpf_object__open_mem(l.elf.file, l.elf.size, &opts);
	if (!l.object) {
		fputs(l.log, stderr);
		die("%s: %s", path, strerror(errno));
	}
	take_plugins();
	err = bpf_object__load(l.object);
	if (err)
		load_failed(err);
	for (i = 0; i < l.n; i++)
		register_plugin(&l.plugins[i]);
	bpf_object__close(l.object);
	btf__free(l.module);
	btf__free(l.vmlinux);
	close(l.module_fd);
	free(l.elf.callbacks);
	free(l.elf.file);
}

/* Detach the link, not just unpin it: then nothing that has it open keeps the plug-in. */
int bpf_unload(const char *name)
{
	char path[128];
	int fd, err = 0;

	snprintf(path, sizeof(path), BPF_PIN_DIR "/%s", name);
	fd = bpf_obj_get(path);
	if (fd < 0)
		return -errno;
	if (bpf_link_detach(fd) || unlink(path))
		err = -errno;
	close(fd);
	return err;
}
