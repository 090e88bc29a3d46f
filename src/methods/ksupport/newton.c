#include "methods/ksupport/ksupport.h"
const clv_ks_solver clv_ks_admm = {0}, clv_ks_newton = {0};
