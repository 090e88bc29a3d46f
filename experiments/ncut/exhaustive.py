"""The lowest normalized cut of a small affinity, by trying every partition into k nonempty clusters.

Clusters are numbered by their first object, so that each partition is met once: S(12, 3) = 86526 of them for 12 objects
in 3 clusters.
"""


def lowest_cut(similarity, k):
    """min over partitions of (k - sum_c within_c / volume_c) / 2."""
    n = len(similarity)
    degree = [sum(row) for row in similarity]
    members = [[] for _ in range(k)]
    within, volume = [0.0] * k, [0.0] * k
    best = float("inf")

    def place(i, used):
        """Try every cluster for object i, the first `used` of them being begun."""
        nonlocal best
        if i == n:
            best = min(best, (k - sum(w / v for w, v in zip(within, volume))) / 2)
            return
        row = similarity[i]
        first = used if n - i == k - used else 0
        for c in range(first, min(used + 1, k)):
            added = row[i] + 2 * sum(row[j] for j in members[c])
            before = within[c], volume[c]
            within[c] += added
            volume[c] += degree[i]
            members[c].append(i)
            place(i + 1, max(used, c + 1))
            members[c].pop()
            within[c], volume[c] = before

    place(0, 0)
    return best
