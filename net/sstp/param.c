// SPDX-License-Identifier: GPL-2.0
/* Parameters of plug-ins, by name. */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include "param.h"

u32 sstp_param_count(const struct sstp_param_spec *spec)
{
	u32 n = 0;

	while (n < SSTP_PARAMS_MAX && spec[n].name[0])
		n++;
	return n;
}

static int sstp_param_set(const struct sstp_plugin *g, u32 *param, const struct sstp_param *p)
{
	u32 i, n = sstp_param_count(g->params);

	/* A name without NUL equals none, as those of @g have one. */
	for (i = 0; i < n; i++)
		if (!strncmp(g->params[i].name, p->name, SSTP_NAME_MAX))
			break;
	if (i == n)
		return -ENOENT;
	if (p->value && (p->value < g->params[i].least || p->value > g->params[i].most))
		return -EINVAL;
	param[i] = p->value;
	return 0;
}

void sstp_param_plugin(struct sstp_plugin_conf *conf, const char *name)
{
	if (!strcmp(conf->name, name))
		return;
	*conf = (struct sstp_plugin_conf){};
	strscpy(conf->name, name, SSTP_NAME_MAX);
}

/* Do the values not contradict each other? */
static bool sstp_param_agree(const struct sstp_plugin *g, const struct sstp_plugin_conf *conf)
{
	struct sstp_param_check check = { .plugin = g };

	static_assert(sizeof(check.values.param) == sizeof(conf->param));
	memcpy(check.values.param, conf->param, sizeof(conf->param));
	return !g->check_params || !g->check_params(&check.values);
}

int sstp_param_apply(const struct sstp_plugin *g, struct sstp_plugin_conf *conf,
		     const struct sstp_param *p, u32 n, u32 *bad)
{
	struct sstp_plugin_conf new = *conf;
	int err;
	u32 i;

	sstp_param_plugin(&new, g->name);
	for (i = 0; i < n; i++) {
		err = sstp_param_set(g, new.param, &p[i]);
		if (err) {
			*bad = i;
			return err;
		}
	}
	if (n && !sstp_param_agree(g, &new)) {
		*bad = n;
		return -EINVAL;
	}
	*conf = new;
	return 0;
}

void sstp_param_take(u32 *to, const struct sstp_param_spec *spec, const char *name,
		     const struct sstp_plugin_conf *conf)
{
	u32 i, n = strcmp(conf->name, name) ? 0 : sstp_param_count(spec);

	for (i = 0; i < SSTP_PARAMS_MAX; i++)
		to[i] = i < n && conf->param[i] ?
			clamp(conf->param[i], spec[i].least, spec[i].most) : 0;
}

u32 sstp_param_list(const struct sstp_plugin *g, const u32 *param, const s64 *state,
		    struct sstp_param *to)
{
	u32 i, params = sstp_param_count(g->params);
	u32 states = state ? sstp_param_states((const char *)g->state) : 0;

	for (i = 0; i < params; i++) {
		memcpy(to[i].name, g->params[i].name, SSTP_NAME_MAX);
		to[i].value = param[i];
	}
	for (i = 0; i < states; i++) {
		memcpy(to[params + i].name, g->state[i], SSTP_NAME_MAX);
		to[params + i].value = state[i];
	}
	return params + states;
}
