"""The figures printed in the paper, and the sets that they are about.

Chen, Huang, Zhao and Shen, "Multidimensional Fractional Programming for Normalized Cuts": tables 1 to 4.
"""

from collections import namedtuple

Set = namedtuple("Set", "name title n k")

SETS = [
    Set("breast", "Breast", 106, 6),
    Set("thyroid", "Thyroid", 215, 3),
    Set("office-caltech10", "Office+Caltech10", 2533, 10),
    Set("splice", "Splice", 3175, 3),
    Set("rice", "Rice", 3810, 2),
    Set("landsat", "Landsat", 6435, 7),
    Set("usps", "USPS", 9298, 10),
    Set("epileptic", "Epileptic", 11500, 5),
]

# The columns of every table: the paper's name, and the options of the command. Then what else is run: other forms of the
# baselines, which the paper does not describe.
ALGORITHMS = {"SC": ["--solver", "spectral"], "FINC": ["--solver", "finc"], "FCD": ["--solver", "fcd"], "FPC": ["--solver", "fpc"]}
FORMS = {"FINC, at once": ["--solver", "finc-at-once"], "FCD, one sweep": ["--solver", "fcd", "--max-iter", "1"]}

# Lowest cut of 10 random starts: SC, FINC, FCD, FPC.
TABLE_2 = {
    "breast": (2.438568, 2.445278, 2.446499, 2.431813),
    "thyroid": (0.983144, 0.983393, 0.986163, 0.983115),
    "office-caltech10": (4.483921, 4.483962, 4.491925, 4.483501),
    "splice": (0.997651, 0.999867, 0.998569, 0.997636),
    "rice": (0.499193, 0.499999, 0.499209, 0.499193),
    "landsat": (2.994675, 2.999986, 2.995302, 2.994335),
    "usps": (4.476479, 4.476404, 4.476591, 4.475869),
    "epileptic": (1.992376, 1.991369, 1.992688, 1.991311),
}

# Mean and spread from the spectral start: SC, SC+FINC, SC+FCD, SC+FPC.
TABLE_3 = {
    "breast": ((2.438695, 7.5e-5), (2.442353, 4.1e-5), (2.438695, 7.5e-5), (2.437931, 2.8e-4)),
    "thyroid": ((0.983144, 0.0), (0.989329, 0.0), (0.983144, 0.0), (0.983144, 0.0)),
    "office-caltech10": ((4.483945, 1.1e-5), (4.483373, 6.0e-6), (4.483635, 2.9e-5), (4.483280, 9.0e-6)),
    "splice": ((0.997651, 0.0), (0.997651, 0.0), (0.997651, 2.0e-5), (0.997638, 0.0)),
    "rice": ((0.499193, 0.0), (0.499193, 0.0), (0.499193, 0.0), (0.499193, 0.0)),
    "landsat": ((2.994678, 2.0e-6), (2.994678, 2.0e-6), (2.994499, 7.5e-5), (2.994335, 0.0)),
    "usps": ((4.476546, 1.7e-4), (4.475926, 1.4e-4), (4.475932, 1.4e-4), (4.475913, 1.3e-4)),
    "epileptic": ((1.992378, 3.0e-6), (1.991756, 1.5e-5), (1.991353, 0.0), (1.991313, 0.0)),
}

METRICS = ("ACC", "NMI", "ARI")

# ACC, NMI and ARI, each of SC, FINC, FCD, FPC.
TABLE_4 = {
    "breast": ((0.4906, 0.5000, 0.3868, 0.5283), (0.4942, 0.4798, 0.3525, 0.5052), (0.2931, 0.3104, 0.1582, 0.3379)),
    "thyroid": ((0.8837, 0.9163, 0.7860, 0.9070), (0.4956, 0.6061, 0.3396, 0.5780), (0.6082, 0.7167, 0.4121, 0.6869)),
    "office-caltech10": ((0.3533, 0.3308, 0.1717, 0.3640), (0.2347, 0.2358, 0.0704, 0.2491),
                         (0.1440, 0.1314, 0.0440, 0.1469)),
    "splice": ((0.6646, 0.3512, 0.5096, 0.7225), (0.2856, 0.0015, 0.2149, 0.3529), (0.2686, 0.0007, 0.1650, 0.3514)),
    "rice": ((0.8966, 0.5142, 0.8853, 0.8992), (0.5129, 0.0006, 0.4845, 0.5216), (0.6288, 0.0005, 0.5937, 0.6371)),
    "landsat": ((0.6044, 0.1584, 0.5809, 0.6611), (0.4905, 0.0013, 0.4073, 0.6111), (0.3948, 0.0000, 0.3423, 0.5328)),
    "usps": ((0.7037, 0.6861, 0.7060, 0.6920), (0.6419, 0.6406, 0.6333, 0.6377), (0.5724, 0.5626, 0.5734, 0.5679)),
    "epileptic": ((0.3609, 0.3386, 0.3743, 0.3197), (0.1627, 0.2419, 0.1909, 0.2370), (0.1119, 0.1385, 0.1326, 0.1332)),
}
