/* SPDX-License-Identifier: GPL-2.0 */
/* Parameters of plug-ins, by name: pure mechanism, no socket, no lock. */
#ifndef _SSTP_PARAM_H
#define _SSTP_PARAM_H

#include "plugin.h"

/**
 * struct sstp_plugin_conf - the plug-in of one kind that a socket is to have
 * @name: name of the plug-in; empty = the default
 * @param: values of its parameters; 0 = the default of each
 */
struct sstp_plugin_conf {
	char	name[SSTP_NAME_MAX];
	u32	param[SSTP_PARAMS_MAX];
};

/* Values that are checked, with the plug-in: @check_params of a BPF program finds it by them. */
struct sstp_param_check {
	const struct sstp_plugin *plugin;
	struct sstp_param_values values;
};

/* Number of parameters in the array @spec */
u32 sstp_param_count(const struct sstp_param_spec *spec);

/* Number of values of a state; @names has their names, SSTP_NAME_MAX bytes each. */
static inline u32 sstp_param_states(const char *names)
{
	u32 n = 0;

	while (n < SSTP_STATE_MAX && names[n * SSTP_NAME_MAX])
		n++;
	return n;
}

/* Name the plug-in @name in @conf. If that is another one, its parameters get their defaults. */
void sstp_param_plugin(struct sstp_plugin_conf *conf, const char *name);
/* Name the plug-in @g in @conf likewise, and set the parameters named in @p to its @n values.
 * -ENOENT: there is no such parameter; -EINVAL: the value is not in range, or, if *@bad is @n,
 * the values contradict each other. After an error @conf is unchanged, and *@bad the number in
 * @p of the value at fault.
 */
int sstp_param_apply(const struct sstp_plugin *g, struct sstp_plugin_conf *conf,
		     const struct sstp_param *p, u32 n, u32 *bad);
/* Get the values of the parameters @spec of the plug-in @name: those of @conf, if it names this
 * plug-in, clamped to their ranges, as another version of the plug-in may have checked them.
 */
void sstp_param_take(u32 *to, const struct sstp_param_spec *spec, const char *name,
		     const struct sstp_plugin_conf *conf);
/* Write the parameters of @g with the values @param to @to, then the values @state, unless that
 * is NULL. Returns how many.
 */
u32 sstp_param_list(const struct sstp_plugin *g, const u32 *param, const s64 *state,
		    struct sstp_param *to);

#endif /* _SSTP_PARAM_H */
