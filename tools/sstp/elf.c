// SPDX-License-Identifier: GPL-2.0
/* Object files of BPF programs: the section with the operations of plug-ins. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf.h"
#include "sstp.h"

#define FILE_MAX	(16 << 20)	/* bytes */
#define SECTION		".struct_ops.link"

_Static_assert(sizeof(SECTION) == sizeof(BPF_OPS_SECTION), "names of the same length");

static void read_file(struct elf_ops *o, const char *path)
{
	FILE *f = fopen(path, "re");

	if (!f)
		die("%s: %s", path, strerror(errno));
	o->file = malloc(FILE_MAX);
	if (!o->file)
		die("no memory");
	o->size = fread(o->file, 1, FILE_MAX, f);
	if (ferror(f))
		die("%s: %s", path, strerror(errno));
	if (o->size == FILE_MAX)
		die("%s: more than %d bytes", path, FILE_MAX);
	fclose(f);
}

/* @len bytes at @at of the file, or NULL */
static const void *part(const struct elf_ops *o, uint64_t at, uint64_t len)
{
	return at <= o->size && len <= o->size - at ? o->file + at : NULL;
}

/* The string @at of string table @s, or "" */
static const char *text(const struct elf_ops *o, const Elf64_Shdr *s, uint32_t at)
{
	const char *t = part(o, s->sh_offset, s->sh_size);

	return t && at < s->sh_size && memchr(t + at, 0, s->sh_size - at) ? t + at : "";
}

/* Find the programs that relocations @rel of the section name. */
static void read_callbacks(struct elf_ops *o, const Elf64_Shdr *sections, unsigned int count,
			   const Elf64_Shdr *rel)
{
	const Elf64_Shdr *symtab = rel->sh_link < count ? &sections[rel->sh_link] : NULL;
	const Elf64_Rel *r = part(o, rel->sh_offset, rel->sh_size);
	size_t i, n = rel->sh_size / sizeof(*r), symbol, symbols;
	const Elf64_Sym *sym;

	sym = symtab ? part(o, symtab->sh_offset, symtab->sh_size) : NULL;
	if (!r || !sym || symtab->sh_link >= count)
		return;
	symbols = symtab->sh_size / sizeof(*sym);
	o->callbacks = calloc(n, sizeof(*o->callbacks));
	if (!o->callbacks)
		die("no memory");
	for (i = 0; i < n; i++) {
		symbol = ELF64_R_SYM(r[i].r_info);
		if (symbol >= symbols)
			continue;
		o->callbacks[o->n].at = r[i].r_offset;
		o->callbacks[o->n++].program = text(o, &sections[symtab->sh_link],
						    sym[symbol].st_name);
	}
}

void elf_ops(struct elf_ops *o, const char *path)
{
	const Elf64_Shdr *sections, *names;
	const Elf64_Ehdr *e;
	unsigned int i, own = 0;
	char *at;

	memset(o, 0, sizeof(*o));
	read_file(o, path);
	e = part(o, 0, sizeof(*e));
	if (!e || memcmp(e->e_ident, ELFMAG, SELFMAG) || e->e_ident[EI_CLASS] != ELFCLASS64 ||
	    e->e_machine != EM_BPF)
		die("%s: not an object file for BPF: compile it with clang -target bpf", path);
	/* The name is in the table of sections and in the BTF of the variables. */
	while ((at = memmem(o->file, o->size, SECTION, sizeof(SECTION))))
		memcpy(at, BPF_OPS_SECTION, sizeof(SECTION));
	sections = part(o, e->e_shoff, e->e_shnum * sizeof(*sections));
	if (!sections || e->e_shoff % 8 || e->e_shstrndx >= e->e_shnum)
		die("%s: not a complete file", path);
	names = &sections[e->e_shstrndx];
	for (i = 0; i < e->e_shnum; i++)
		if (!strcmp(text(o, names, sections[i].sh_name), BPF_OPS_SECTION))
			own = i;
	if (own) {
		o->data = part(o, sections[own].sh_offset, sections[own].sh_size);
		o->len = sections[own].sh_size;
	}
	if (!o->data)
		die("%s has no controller: no section " SECTION, path);
	for (i = 0; i < e->e_shnum; i++) {
		if (sections[i].sh_type != SHT_REL || sections[i].sh_info != own)
			continue;
		if (o->callbacks)
			die("%s: section " SECTION " has two sections of relocations", path);
		read_callbacks(o, sections, e->e_shnum, &sections[i]);
	}
}
