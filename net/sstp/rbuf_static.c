// SPDX-License-Identifier: GPL-2.0
/* "static": a buffer of fixed size, with which the papers compare */
#include "rbuf.h"

struct sstp_rbuf_ops sstp_rbuf_static = {
	.name	= "static",
	.owner	= THIS_MODULE,
};
