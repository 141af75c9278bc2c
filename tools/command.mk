# SPDX-License-Identifier: GPL-2.0
# Variables of the makefiles of commands written in C: flags, directories to install to.
TOP := $(abspath ../..)
CFLAGS ?= -O2 -g
flags := -std=gnu17 -D_GNU_SOURCE -Wall -Wextra -I$(TOP)/include/uapi
prefix ?= /usr/local
bindir ?= $(prefix)/bin
libdir ?= $(prefix)/lib
mandir ?= $(prefix)/share/man
completiondir ?= $(prefix)/share/bash-completion/completions
