/* consensus as a method: what it takes, gives and proves. */
#include "methods/consensus/consensus.h"

#define T clv_consensus_options
static const clv_option options[] = {
    CLV_OPT_INT(
        T, k, "k", 'k', 0, 1, 0x1p31 - 1, "auto", "N|LOW:HIGH",
        "without --medoid, the number of clusters; of a range, or auto (2:12), the one that its table suggests"),
    CLV_OPT_CHOICE(T, method, "method", CLV_CONSENSUS_NCUT, "ncut|symnmf|dominant",
                   "what is solved on the share of the inputs that put two objects together"),
    {.name = "patience",
     .kind = CLV_OPTION_INT,
     .offset = offsetof(T, patience),
     .initial = -1,
     .most = 1e15,
     .word = "auto",
     .word_value = -1,
     .meta = "N",
     .help = "ncut: the search ends after N kicks in a row without gain; auto: 20, of more than 100,000 groups fewer"},
    CLV_OPT_FLAG(T, medoid, "medoid", NULL, 0, "no new partition: the input that agrees best with the others"),
};
static const clv_option_table table = {"consensus", options, CLV_COUNT(options), sizeof(T)};
#undef T

/* How far numbers may differ that were computed from the same labels; those of clusters, in units of themselves. */
#define ROUNDING 1e-8
#define CLOSE 1e-9

static const clv_field_info gives[] = {
    {"labels", CLV_FIELD_INTEGER, "n", CLV_ANSWER, .help = "the cluster of each object; -1: in no input"},
    {"eigenvalues", CLV_FIELD_REAL, "eigenvalues", CLV_DERIVED, ROUNDING, CLV_UNIT_ONE,
     "ncut: of the normalized co-association, largest first"},
    {"membership", CLV_FIELD_SPARSE, "n x k", CLV_ANSWER,
     .help = "symnmf: rows that add up to 1; dominant: column c holds the weights of cluster c"},
    {"groups", CLV_FIELD_INTEGER, "", CLV_DERIVED, .help = "groups of objects that no input tells apart"},
    {"medoid", CLV_FIELD_INTEGER, "", CLV_DERIVED, .help = "the input that agrees best with the others, from 0"},
    {"inputs.name", CLV_FIELD_TEXT, "inputs", CLV_STATED, .help = "its file, or its number from 1"},
    {"inputs.clusters", CLV_FIELD_INTEGER, "inputs", CLV_DERIVED, .help = "how many it has"},
    {"inputs.left_out", CLV_FIELD_INTEGER, "inputs", CLV_DERIVED, .help = "objects that it leaves out"},
    {"inputs.ari", CLV_FIELD_REAL, "inputs", CLV_DERIVED, ROUNDING, CLV_UNIT_ONE,
     "its agreement with the consensus, the adjusted Rand index"},
    {"inputs.mean_ari", CLV_FIELD_REAL, "inputs", CLV_DERIVED, ROUNDING, CLV_UNIT_ONE,
     "its mean agreement with the other inputs"},
    {"confidence", CLV_FIELD_REAL, "n", CLV_DERIVED, ROUNDING, CLV_UNIT_ONE,
     "how likely an input puts the object with another one of its cluster"},
    {"clusters.size", CLV_FIELD_INTEGER, "k", CLV_DERIVED, .help = "dominant: members found, before the others joined"},
    {"clusters.cohesiveness", CLV_FIELD_REAL, "k", CLV_DERIVED, CLOSE, CLV_UNIT_OWN, "the objective of the cluster"},
    {"clusters.certificate", CLV_FIELD_REAL, "k", CLV_DERIVED, CLOSE, CLV_UNIT_OWN, "its Frank-Wolfe gap"},
    {"clusters.iterations", CLV_FIELD_INTEGER, "k", CLV_STATED, .help = "steps that found it"},
    {"clusters.stop", CLV_FIELD_TEXT, "k", CLV_ANSWER, .help = "why they ended"},
    {"clusters.similarity", CLV_FIELD_REAL, "k", CLV_DERIVED, CLOSE, CLV_UNIT_OWN, "the mean similarity inside"},
    {"clusters.drops", CLV_FIELD_INTEGER, "k", CLV_STATED, .help = "steps that took an object out of the support"},
    {"clusters.swaps", CLV_FIELD_INTEGER, "k", CLV_STATED, .help = "steps that put another object in its place"},
    {"clusters.prototype", CLV_FIELD_INTEGER, "k", CLV_DERIVED, .help = "the heaviest object"},
    {"clusters.pass", CLV_FIELD_INTEGER, "k", CLV_ANSWER, .help = "of peeling, from 0"},
    {"shift", CLV_FIELD_REAL, "", CLV_ANSWER, .help = "dominant: the one that suits k clusters"},
    {"start_taken", CLV_FIELD_TEXT, "", CLV_STATED, .help = "symnmf: the start used"},
    {"residual", CLV_FIELD_REAL, "", CLV_DERIVED, ROUNDING, CLV_UNIT_ONE, "symnmf: |P - W W'| / |P|"},
    {"mean_similarity", CLV_FIELD_REAL, "", CLV_DERIVED, ROUNDING, CLV_UNIT_OWN, "symnmf: over all pairs"},
    {"variation", CLV_FIELD_REAL, "", CLV_DERIVED, ROUNDING, CLV_UNIT_ONE, "symnmf: 0 when all similarities are equal"},
    {"expected_sizes", CLV_FIELD_REAL, "k", CLV_DERIVED, ROUNDING, CLV_UNIT_ONE, "symnmf: sums of the memberships"},
    {"entropy", CLV_FIELD_REAL, "n", CLV_DERIVED, ROUNDING, CLV_UNIT_ONE, "symnmf: of the memberships, in nats"},
    {"warnings", CLV_FIELD_TEXT, "warnings", CLV_STATED, .help = "what a user should know"},
};

const clv_method clv_consensus_method = {
    .name = "consensus",
    .summary = "one clustering from several of the same objects",
    .about = "Finds k clusters that agree with several given clusterings of the same objects: ncut (or symnmf, or\n"
             "dominant) on the share of the inputs that put two objects together, without n x n numbers. Says of\n"
             "every object how far the inputs agree, and of every input how far it agrees with the whole. The\n"
             "certificate says whether moving any one object could lower the cut of these shares.\n",
    .examples = "  cleave consensus a.json b.json c.json -k 3 -o labels.csv --report consensus.html\n"
                "  cleave consensus run-*.csv -k 10 --json result.json\n"
                "  cleave consensus a.json b.json c.json --medoid -o labels.csv\n"
                "  cleave verify result.json run-*.csv\n",
    .takes = CLV_TAKES_PARTITIONS,
    .abilities = CLV_CHECKPOINTS,
    .options = &table,
    .k_meaning = CLV_K_CLUSTERS,
    .gives = gives,
    .gives_count = CLV_COUNT(gives),
    .objective = "ncut",
    .certificate = "one-move-gain",
    .holds = "Proved: no single object can be moved to another cluster to lower the cut.",
    .open = "Not optimal: some object can be moved to another cluster to lower the cut.",
    .bound = "eigenvalue",
    .check = clv_consensus_check,
    .memory = clv_consensus_bytes,
    .solve = clv_consensus_solve,
    .evaluate = clv_consensus_evaluate_answer,
};
