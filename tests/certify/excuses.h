/* What verify may accept, and why: paths as patterns, the forgeries, the methods (NULL: any). One that nothing needs is
 * an error, also one of its forgeries alone, unless it is rare. Of what is not recomputed here verify itself says that
 * it was not checked. */
static const excuse excuses[] = {
    /* The machine's. */
    {"seconds.*", BIT(NEAR) | CLAIM_LESS, NULL},
    {"restarts\\[].seconds", BIT(NEAR) | BIT(NOTHING), NULL},
    {"path\\[].seconds", BIT(NEAR), "ksupport"},
    {"affinity.bytes", BIT(NEAR), NULL},
    {"options.memory", BIT(KIND), NULL},
    {"options.device-memory", BIT(KIND), NULL},
    /* Who claims less claims nothing false. */
    {"affinity.reason", BIT(LEFT_OUT), "ncut"}, /* as if it had been named */
    {"bound", BIT(LEFT_OUT), NULL},
    {"bound.gap_percent", CLAIM_LESS, NULL},
    {"data", BIT(LEFT_OUT), NULL},
    {"data.fingerprint", BIT(LEFT_OUT), NULL},
    {"data_passes", BIT(LEFT_OUT), NULL},
    {"drift", BIT(NOTHING), NULL},
    {"metrics", BIT(LEFT_OUT), NULL},
    {"metrics.*", BIT(LEFT_OUT), NULL},
    {"passes", BIT(LEFT_OUT), "dominant"},
    {"start_taken", BIT(LEFT_OUT), NULL},
    /* It stands for the default, and the answer is judged by that. */
    {"options.*", CLAIM_LESS, NULL},
    {"intercepts", BIT(LEFT_OUT), "ksupport"},
    {"lambda", BIT(LEFT_OUT), "ksupport"},
    /* Less than rounding: the allowed difference is absolute where numbers are near 0. */
    {"certificate.value", BIT(SIGN) | BIT(NEAR), NULL},
    {"clusters\\[].certificate", BIT(SIGN) | BIT(NEAR), NULL},
    /* Not checked, and said so: how long a search took, rows and restarts other than the one reported, sentences. */
    {"+warnings", BIT(OTHER), NULL},
    {"+class_names", BIT(OTHER), "ksupport"}, /* the command compares them with the names in the data */
    {"inputs\\[].name", BIT(OTHER), "consensus"},
    {"clusters\\[].drops", BIT(NEAR), NULL},
    {"clusters\\[].swaps", BIT(NEAR), NULL},
    {"data_passes", BIT(NEAR), NULL},
    {"drift", BIT(NEAR), NULL},
    {"iterations", BIT(NEAR) | RARE, "symnmf"}, /* those of another restart that has found the same */
    {"passes", BIT(NEAR), "dominant"},
    {"path\\[].*", BIT(NEAR), "ksupport"},
    {"restarts\\[].iterations", BIT(NEAR), NULL},
    {"restarts\\[].objective", BIT(NEAR), NULL},
    /* Limits, and how an answer was looked for: it is judged alike whatever found it. */
    {"options.max-iter", BIT(FAR) | BIT(NEAR), NULL},
    {"options.time-limit", BIT(KIND), NULL},
    {"options.restarts", BIT(NEAR), "consensus dominant ksupport pursuit"}, /* which report all as one */
    {"options.patience", BIT(FAR) | BIT(NEAR) | BIT(KIND), NULL},
    {"options.start", BIT(KIND) | BIT(OTHER), NULL},
    {"options.change", SIZES, "dominant symnmf"},
    {"options.polish", BIT(OTHER), NULL},
    {"options.step", BIT(OTHER), NULL},
    {"options.rounding", BIT(OTHER), "ncut"},
    {"options.moves", BIT(KIND), "symnmf"},
    {"options.s*-weight", BIT(NEAR), "symnmf"},
    {"options.alpha-*", BIT(OTHER), "kpalm"}, /* the alpha that they give is compared */
    {"options.initial-membership", BIT(OTHER), "kpalm"},
    {"options.start-membership", BIT(KIND), "kpalm"},
    {"options.object-alpha", BIT(KIND), "kpalm"},
    {"options.empty", BIT(OTHER), "kpalm"},
    {"options.gamma-[wx]", BIT(NEAR), "kpalm"},
    {"options.face-solve", BIT(OTHER), "dominant"},
    {"options.multistart", BIT(NEAR) | BIT(KIND), "dominant"},
    {"options.sampling", BIT(OTHER), "dominant"},
    {"options.overlap", BIT(NEAR), "dominant"},
    {"options.start-object", BIT(NEAR), "dominant"},
    {"options.inner", BIT(OTHER), "ksupport pursuit"},
    {"options.prox", BIT(OTHER), "ksupport pursuit"},
    {"options.atoms", BIT(OTHER), "ksupport pursuit"},
    {"options.momentum", BIT(OTHER), "ksupport pursuit"},
    {"options.rho", BIT(KIND), "ksupport pursuit"},
    {"options.rule", BIT(OTHER), "ksupport pursuit"},
    {"options.screening", BIT(OTHER), "ksupport"},
    {"options.working-set", BIT(OTHER), "ksupport"},
    {"options.solver", BIT(OTHER), "ksupport"}, /* auto */
    {"options.solver", BIT(OTHER), "symnmf"},   /* auto */
    /* The answer is the same by another value: a choice that "auto" would make, an option that others leave idle. */
    {"options.bound", BIT(OTHER), "ncut"},
    {"options.home", BIT(OTHER), NULL},
    {"options.search", BIT(OTHER), NULL},
    {"options.symmetrize", BIT(OTHER), NULL},
    {"options.neighbors", BIT(NEAR), NULL},
    {"options.zero-diagonal", BIT(OTHER), "dominant"},
    {"options.shift", BIT(OTHER), "ncut"},
    {"options.tol", BIT(KIND), "ncut consensus"},
    {"options.norm", BIT(OTHER), "kpalm"},
    {"options.alpha", BIT(KIND), "kpalm"},
    {"options.epsilon", BIT(KIND), "kpalm"},
    {"options.k", BIT(NEAR), "dominant"},  /* at most */
    {"options.k", BIT(NEAR), "consensus"}, /* of a medoid, as is the next */
    {"options.method", BIT(OTHER), "consensus"},
    {"options.assign", BIT(OTHER), "dominant"},
    {"options.absorb", BIT(KIND), "dominant"},
    {"options.min-size", BIT(NEAR), "dominant"},
    {"options.lambda", SIZES, "ksupport"},
    {"options.radius", BIT(NEAR), "ksupport"},
};
