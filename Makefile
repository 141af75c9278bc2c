# SPDX-License-Identifier: GPL-2.0
# Builds sstp.ko for one kernel, outside the source files' directories:
#
#   make [KDIR=/path/to/kernel/build] [BUILD=/path/to/objects] [W=1] [V=1]
#
# and installs it, or what programs need, below DESTDIR and prefix. "make help" lists
# the targets.

KDIR ?= /lib/modules/$(shell uname -r)/build
# Not include/config/kernel.release, which is no "uname -r" on Debian 12.
release := $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h 2>/dev/null)
BUILD = $(CURDIR)/build/$(or $(release),unknown)
prefix ?= /usr/local
INSTALL_HDR_PATH ?= $(DESTDIR)$(prefix)
man7 = $(DESTDIR)$(prefix)/share/man/man7
doc = $(DESTDIR)$(prefix)/share/doc/sstp

# Directories of tools/ that have something to install
tools := sstp-run sstp

# A User Mode Linux build tree needs to be told its architecture each time.
arch := $(if $(shell grep -sx CONFIG_UML=y $(KDIR)/.config),ARCH=um)
# With a vmlinux kbuild makes BTF of the modules, for controllers in BPF, and fails without pahole.
btf := $(and $(wildcard $(KDIR)/vmlinux),$(shell grep -sx CONFIG_DEBUG_INFO_BTF_MODULES=y $(KDIR)/.config))
no_pahole := $(if $(btf),$(if $(shell command -v $(or $(PAHOLE),pahole)),,yes))
kbuild = +$(MAKE) -C $(KDIR) M=$(BUILD) $(arch) $(if $(no_pahole),CONFIG_DEBUG_INFO_BTF_MODULES=)

all: modules

help:
	@echo 'all              build the modules for KDIR (default: the running kernel)'
	@echo 'install          all of the following two'
	@echo 'install-modules  install the modules, run depmod'
	@echo 'install-tools    install commands, manual pages, shell completion, the headers'
	@echo '                 for programs and examples, in prefix (default: /usr/local)'
	@echo 'uninstall        take all away that was installed; also uninstall-modules and'
	@echo '                 uninstall-tools'
	@echo 'check            run all tests (selftests/run)'
	@echo 'demo             show it at work (tools/demo)'
	@echo 'lab              measure it in simulated time, the quick set (tools/lab/run)'
	@echo 'evaluation       measure all of it, and write Documentation/evaluation (hours)'
	@echo 'evaluation-ccc   of that, the tables of the paper on UDT/CCC, and groups of gtp'
	@echo 'sparse           build, and have sparse read all files'
	@echo 'checkpatch       kernel coding style, strictly'
	@echo 'clean            remove what was built'

# Objects land beside their sources in kbuild, and not every kernel can be told
# otherwise. So BUILD gets links to the sources.
links:
	@test -n '$(release)' || { echo 'No kernel headers in $(KDIR); set KDIR=' >&2; exit 1; }
	@mkdir -p $(BUILD)
	@find -L $(BUILD) -type l -delete
	@find Kbuild net include -type d -exec mkdir -p $(BUILD)/{} \;
	@find Kbuild net include -type f \( -name Kbuild -o -name '*.[ch]' \) \
		-exec sh -c 'for f; do [ -e "$(BUILD)/$$f" ] || \
			ln -sf "$(CURDIR)/$$f" "$(BUILD)/$$f"; done' - {} +

modules: links
ifneq ($(no_pahole),)
	@echo 'No pahole (package dwarves): modules without BTF, so no controllers in BPF' >&2
endif
	$(kbuild) modules

install: install-modules install-tools

uninstall: uninstall-modules uninstall-tools

install-modules: modules
	$(kbuild) modules_install $(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR))
	$(if $(DESTDIR),,depmod $(release))

uninstall-modules:
	find $(DESTDIR)/lib/modules/$(release) \( -name 'sstp.ko*' -o -name 'sstp-*.ko*' \) -delete
	$(if $(DESTDIR),,depmod $(release))

install-tools:
	@for tool in $(tools); do $(MAKE) -C tools/$$tool install prefix=$(prefix) || exit; done
	install -D -m 644 -t $(INSTALL_HDR_PATH)/include/linux include/uapi/linux/sstp.h \
		include/uapi/linux/sstp_netlink.h
	install -D -m 644 -t $(INSTALL_HDR_PATH)/include tools/bpf/sstp.bpf.h
	install -D -m 644 -t $(man7) Documentation/man/sstp.7
	@find examples -name __pycache__ -prune -o -type f -exec sh -c 'for f; do \
		[ -x "$$f" ] && mode=755 || mode=644; \
		install -D -m $$mode "$$f" "$(doc)/$$f" || exit; done' - {} +

uninstall-tools:
	@for tool in $(tools); do $(MAKE) -C tools/$$tool uninstall prefix=$(prefix) || exit; done
	rm -f $(INSTALL_HDR_PATH)/include/linux/sstp.h $(INSTALL_HDR_PATH)/include/linux/sstp_netlink.h \
		$(INSTALL_HDR_PATH)/include/sstp.bpf.h
	rm -f $(man7)/sstp.7
	rm -rf $(doc)

check:
	selftests/run

demo:
	tools/demo

lab:
	tools/lab/run --quick all

define tables
	tools/bench/cost --paper -r 3 --markdown $(to)/flows.md > /dev/null
	tools/bench/statements -m $(to)/statements.md > /dev/null
endef

evaluation evaluation-ccc: to := Documentation/evaluation
evaluation:
	tools/lab/report
	tools/bench/server -m $(to)/server.md
	tools/bench/server --each -m $(to)/each.md
	tools/bench/server --ablation -m $(to)/parts.md
	tools/bench/memory -m $(to)/memory.md
	tools/bench/contention -m $(to)/contention.md
	tools/bench/bpf -m $(to)/bpf.md
	tools/bench/requests -m $(to)/requests.md
	tools/bench/many -m $(to)/many.md
	tools/bench/cpus -m $(to)/cpus.md
	tools/bench/links -m $(to)/links.md
	$(tables)

# What the paper on UDT/CCC has: Table 1 is of statements, 2 of controllers, 3 and 4 of cost.
evaluation-ccc:
	tools/lab/report controllers gtp
	$(tables)

# Files whose objects are there are read, and not compiled again.
sparse: links
	$(kbuild) modules C=2 CF='-Wsparse-error -D__CHECK_ENDIAN__'

KSRC ?= $(shell tools/vm/kernel fetch source)
checkpatch:
	@files=$$(find $(CURDIR)/net $(CURDIR)/include -name '*.[ch]' | sort); \
	dir=$$(mktemp -d) && cd $$dir && perl $(KSRC)/scripts/checkpatch.pl --no-tree --strict \
		--no-summary --terse --show-types $(CHECKPATCH_FLAGS) -f $$files; \
	status=$$?; rm -rf $$dir; exit $$status

clean:
	rm -rf $(CURDIR)/build $(BUILD)

.PHONY: all help links modules install uninstall install-modules uninstall-modules \
	install-tools uninstall-tools check demo lab evaluation evaluation-ccc sparse checkpatch \
	clean
