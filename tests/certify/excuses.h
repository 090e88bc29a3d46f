/* What verify may accept, and why: paths as patterns, the forgeries, the methods (NULL: any). One that nothing needs is
 * an error, also one of its forgeries alone, unless it is rare. Of what is not recomputed here verify itself says that
 * it was not checked. */
static const excuse excuses[] = {
    /* The machine's. */
    {"seconds.*", ALIKE | CLAIM_LESS, NULL},
    {"restarts\\[].seconds", ALIKE | BIT(NOTHING), NULL},
    {"affinity.bytes", ALIKE | BIT(LEFT_OUT), NULL}, /* to a page, which is more than small ones have */
    {"options.*memory", BIT(KIND), NULL},
    /* Who claims less claims nothing false. */
    {"affinity.reason", BIT(LEFT_OUT), "ncut"}, /* as if it had been named */
    {"bound", BIT(LEFT_OUT), NULL},
    {"bound.gap_percent", CLAIM_LESS, NULL},
    {"data", BIT(LEFT_OUT), NULL},
    {"data.fingerprint", BIT(LEFT_OUT), NULL},
    {"metrics*", BIT(LEFT_OUT), NULL},
    {"shift", BIT(LEFT_OUT), "ncut"}, /* it is for the bound */
    {"start_taken", BIT(LEFT_OUT), NULL},
    /* It stands for the default, and the answer is judged by that. */
    {"options.*", CLAIM_LESS, NULL},
    {"intercepts", BIT(LEFT_OUT), "ksupport"},
    {"lambda", BIT(LEFT_OUT), "ksupport"},
    /* Less than rounding: the allowed difference is absolute where numbers are near 0. */
    {"certificate.value", BIT(SIGN) | ALIKE, NULL},
    {"clusters\\[].certificate", BIT(SIGN) | ALIKE, NULL},
    {"entropy\\[]", BIT(SIGN) | ALIKE | RARE, "consensus symnmf"},
    {"membership.value\\[]", ALIKE | RARE, "dominant"},
    /* Not checked, and said so: how long a search took, rows and restarts other than the one reported, sentences. */
    {"*warnings*", BIT(LIST) | BIT(OTHER) | BIT(LEFT_OUT), NULL},
    {"+class_names", BIT(OTHER), "ksupport"}, /* the command compares them with the names in the data */
    {"inputs\\[].name", BIT(OTHER), "consensus"},
    {"alpha_*", BIT(NEAR) | BIT(LEFT_OUT), "kpalm"},
    {"clusters\\[].drops", ALIKE, NULL},
    {"clusters\\[].iterations", BIT(ZERO), NULL},
    {"clusters\\[].swaps", ALIKE, NULL},
    {"data_passes", BIT(NEAR) | BIT(LEFT_OUT), NULL},
    {"drift", ALIKE | BIT(NOTHING), NULL},
    {"iterations", BIT(NEAR) | RARE, "symnmf"}, /* those of another restart that has found the same */
    {"passes", BIT(NEAR) | BIT(LEFT_OUT), "dominant"},
    {"path\\[].*", ALIKE, "ksupport"},
    {"restarts\\[].iterations", ALIKE, NULL},
    {"restarts\\[].objective", BIT(NEAR), NULL},
    /* Limits, and how an answer was looked for: it is judged alike whatever found it. */
    {"options.max-iter", BIT(FAR) | ALIKE, NULL},
    {"options.time-limit", BIT(KIND), NULL},
    {"options.restarts", BIT(NEAR), "consensus dominant ksupport pursuit"}, /* which report all as one */
    {"options.patience", BIT(FAR) | ALIKE | BIT(KIND), NULL},
    {"options.start", BIT(KIND) | BIT(OTHER), NULL},
    {"options.change", SIZES, "dominant symnmf"},
    {"options.polish", BIT(OTHER), NULL},
    {"options.step", BIT(OTHER), NULL},
    {"options.rounding", BIT(OTHER), "ncut"},
    {"options.moves", ALIKE | BIT(KIND), "symnmf"},
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
    {"options.overlap", ALIKE, "dominant"}, /* what is shared is compared */
    {"options.start-object", ALIKE, "dominant"},
    {"options.inner", BIT(OTHER), "ksupport pursuit"},
    {"options.prox", BIT(OTHER), "ksupport pursuit"},
    {"options.atoms", BIT(OTHER), "ksupport pursuit"},
    {"options.momentum", BIT(OTHER), "ksupport pursuit"},
    {"options.rho", BIT(FAR) | BIT(VAST) | BIT(NEAR) | BIT(KIND), "ksupport pursuit"},
    {"options.rule", BIT(OTHER), "ksupport pursuit"},
    {"options.screening", BIT(OTHER), "ksupport"},
    {"options.working-set", BIT(OTHER), "ksupport"},
    {"options.solver", BIT(OTHER), "ksupport symnmf"}, /* auto */
    /* The answer is the same by another value: a choice that "auto" would make, an option that others leave idle. */
    {"options.bound", BIT(OTHER), "ncut"},
    {"options.home", BIT(OTHER), NULL},
    {"options.search", BIT(OTHER), NULL},
    {"options.symmetrize", BIT(OTHER), NULL},
    {"options.neighbors", BIT(NEAR), NULL},
    {"options.gamma", BIT(KIND), NULL},
    {"options.zero-diagonal", BIT(OTHER), "dominant"},
    {"options.shift", BIT(OTHER), "ncut"},
    {"options.tol", ALIKE | BIT(KIND), "ncut consensus"},
    {"options.norm", BIT(OTHER), "kpalm"},
    {"options.alpha", BIT(KIND), "kpalm"},
    {"options.epsilon", BIT(KIND), "kpalm"},
    {"options.k", BIT(NEAR), "dominant"},              /* at most */
    {"options.k", BIT(NEAR) | BIT(KIND), "consensus"}, /* of a medoid, as is the next */
    {"options.method", BIT(OTHER), "consensus"},
    {"options.assign", BIT(OTHER), "dominant"},
    {"options.absorb", BIT(NEAR) | BIT(KIND), "dominant"},
    {"options.cutoff", BIT(NEAR), "dominant"},
    {"options.min-cohesiveness", ALIKE, "dominant"},
    {"options.min-size", BIT(NEAR), "dominant"},
    {"options.lambda", BIT(FAR) | BIT(VAST) | BIT(NEAR), "ksupport pursuit"}, /* of a bound */
    {"options.radius", BIT(NEAR), "ksupport"},
};
