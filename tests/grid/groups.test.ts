import { describe, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { RecordGroup } from '../../src/core/query.ts'
import {
  anchorOf,
  GROUP_HEIGHT,
  hiddenBetween,
  layOutGroups,
  plainLines,
  type RowLines,
  shownPieces,
  shownRuns,
  stickyGroupsAt,
  topOfAnchor,
} from '../../web/grid/groups/row-lines.ts'
import {
  ALL_COLLAPSED,
  countIn,
  groupAt,
  isCollapsed,
  NONE_COLLAPSED,
  pathTo,
  placeOf,
  treeOf,
  withCollapsed,
  withCount,
  withPage,
  withSummaries,
} from '../../web/grid/groups/tree.ts'
import { pick, seeded } from '../core/random.ts'

const LEVELS = ['status', 'owner'].map((fieldId) => ({ fieldId, direction: 'asc' as const }))
const group = (keys: CellValue[], count: number, summaries = {}): RecordGroup => ({ keys, count, summaries })

const LISTED = [
  group([null], 2),
  group([null, 'Ann'], 2),
  group(['Done'], 5),
  group(['Done', 'Ann'], 2),
  group(['Done', 'Bob'], 3),
]
const TREE = treeOf(LEVELS, { groups: LISTED, hasMore: false })
const layOut = (more: Partial<Parameters<typeof layOutGroups>[0]> = {}): RowLines =>
  layOutGroups({
    tree: TREE,
    collapsed: NONE_COLLAPSED,
    rowCount: 7,
    rowHeight: 30,
    canAdd: false,
    ...more,
  })

describe('the tree of groups', () => {
  test('puts each group into the one that it stands behind, and finds the group of a row', () => {
    expect(TREE.groups.map(({ keys, groups }) => [keys, groups.map((own) => own.keys)])).toEqual([
      [[null], [[null, 'Ann']]],
      [
        ['Done'],
        [
          ['Done', 'Ann'],
          ['Done', 'Bob'],
        ],
      ],
    ])
    expect(countIn(TREE.groups)).toBe(7)
    expect([0, 1, 2, 3, 4, 6, 7].map((row) => groupAt(TREE, row)?.node.keys)).toEqual([
      [null, 'Ann'],
      [null, 'Ann'],
      ['Done', 'Ann'],
      ['Done', 'Ann'],
      ['Done', 'Bob'],
      ['Done', 'Bob'],
      undefined,
    ])
    expect(pathTo(TREE, 5).map(({ node, first }) => [node.keys.length, first])).toEqual([
      [1, 2],
      [2, 4],
    ])
    expect(placeOf(TREE, ['Done', 'Bob'])?.first).toBe(4)
    expect(placeOf(TREE, ['Done', 'Eve'])).toBeNull()
  })

  test('counts a record that comes or goes in all groups that it stands in, and alters nothing', () => {
    const more = withCount(TREE, ['Done', 'Ann'], 1)
    expect(placeOf(more, ['Done'])?.node.count).toBe(6)
    expect(placeOf(more, ['Done', 'Bob'])?.first).toBe(5)
    expect(placeOf(withCount(more, ['Done', 'Ann'], -3), ['Done', 'Ann'])?.node.count).toBe(0)
    expect(placeOf(TREE, ['Done'])?.node.count).toBe(5)
    expect(more.groups[0]).toBe(TREE.groups[0])
  })

  test('takes further groups up where they belong, and knows when all are there', () => {
    const part = treeOf(LEVELS, { groups: [group(['Done'], 5), group(['Done', 'Ann'], 2)], hasMore: true })
    expect([part.isWhole, part.groups[0]?.isWhole]).toEqual([false, false])
    const filled = withPage(part, ['Done'], { groups: [group(['Done', 'Bob'], 3)], hasMore: false })
    expect(filled.groups[0]).toMatchObject({ isWhole: true, groups: [{ count: 2 }, { count: 3 }] })
    const whole = withPage(filled, [], {
      groups: [group(['Todo'], 1), group(['Todo', 'Ann'], 1)],
      hasMore: false,
    })
    expect(whole.groups.map(({ keys }) => keys[0])).toEqual(['Done', 'Todo'])
    expect(whole.isWhole).toBe(true)
  })

  test('takes over summaries and leaves the counts', () => {
    const fresh = treeOf(
      LEVELS,
      { groups: [group(['Done'], 9, { n: 4 })], hasMore: false },
      { kinds: { n: 'sum' } },
    )
    const merged = withSummaries(TREE, fresh)
    expect(merged.groups[1]).toMatchObject({ count: 5, summaries: { n: 4 } })
    expect(merged.kinds).toEqual({ n: 'sum' })
  })
})

describe('closed groups', () => {
  test('are all or none, save for some', () => {
    const one = withCollapsed(NONE_COLLAPSED, ['Done'], true)
    expect([isCollapsed(one, ['Done']), isCollapsed(one, [null])]).toEqual([true, false])
    expect(withCollapsed(one, ['Done'], false)).toEqual(NONE_COLLAPSED)
    const others = withCollapsed(ALL_COLLAPSED, ['Done'], false)
    expect([isCollapsed(others, ['Done']), isCollapsed(others, [null])]).toEqual([false, true])
  })
})

describe('where rows and headers stand', () => {
  test('headers push the rows below them down', () => {
    const lines = layOut()
    expect(lines.lines.map(({ kind }) => kind).join(' ')).toBe('group group rows group group rows group rows')
    expect(lines.topOf(0)).toBe(2 * GROUP_HEIGHT)
    expect(lines.topOf(2)).toBe(4 * GROUP_HEIGHT + 60)
    expect(lines.topOf(4)).toBe(5 * GROUP_HEIGHT + 120)
    expect([lines.height, lines.shown, lines.positions]).toEqual([5 * GROUP_HEIGHT + 210, 7, 12])
    expect(lines.positionOf(4)).toBe(9)
  })

  test('closed groups hide their rows, which have no room and are not asked for', () => {
    const collapsed = withCollapsed(NONE_COLLAPSED, ['Done', 'Ann'], true)
    const lines = layOut({ collapsed })
    expect([lines.shown, lines.isShown(1), lines.isShown(2), lines.isShown(4)]).toEqual([
      5,
      true,
      false,
      true,
    ])
    expect(lines.topOf(3)).toBe(3 * GROUP_HEIGHT + 60)
    expect([lines.placeOf(1), lines.placeOf(2), lines.placeOf(4)]).toEqual([1, 2, 2])
    expect([0, 1, 2, 4].map(lines.rowOf)).toEqual([0, 1, 4, 6])
    expect(hiddenBetween(lines, 1, 3)).toEqual([{ first: 2, last: 3 }])
    expect(layOut({ collapsed: ALL_COLLAPSED })).toMatchObject({ shown: 0, height: 2 * GROUP_HEIGHT })
  })

  test('rows that no listed group accounts for stand behind the others', () => {
    expect(layOut({ rowCount: 9 }).lines.at(-1)).toMatchObject({
      kind: 'rows',
      first: 7,
      count: 2,
      group: null,
    })
    expect(layOut({ rowCount: 4 }).shown).toBe(4)
    const part = treeOf(LEVELS, { groups: LISTED.slice(0, 4), hasMore: true })
    expect(
      layOut({ tree: part, rowCount: 20 })
        .lines.map((line) => line.kind)
        .join(' '),
    ).toBe('group group rows group group rows more rows more rows')
  })

  test('a row is found where it stands, whatever is closed', () => {
    const random = seeded(3)
    for (let turn = 0; turn < 200; turn++) {
      const listed = Array.from({ length: 5 }, (_, at) => {
        const counts = [1, 2, 3].map(() => pick(random, [0, 1, 4]))
        const own = counts.map((count, sub) => group([at, sub], count))
        return [
          group(
            [at],
            counts.reduce((a, b) => a + b),
          ),
          ...own,
        ]
      }).flat()
      const tree = treeOf(LEVELS, { groups: listed, hasMore: false })
      let collapsed = pick(random, [NONE_COLLAPSED, ALL_COLLAPSED])
      for (const { keys } of listed) {
        if (random() < 0.3) collapsed = withCollapsed(collapsed, keys, pick(random, [true, false]))
      }
      const rowCount = countIn(tree.groups)
      const lines = layOut({ tree, collapsed, rowCount, canAdd: pick(random, [true, false]) })
      const shown = Array.from({ length: rowCount }, (_, row) => row).filter((row) => lines.isShown(row))
      expect(shown.length).toBe(lines.shown)
      for (const [place, row] of shown.entries()) {
        expect([lines.placeOf(row), lines.rowOf(place), lines.rowAt(lines.topOf(row) + 29)]).toEqual([
          place,
          row,
          row,
        ])
      }
      for (let at = 1; at < shown.length; at++) {
        expect(lines.topOf(shown[at]!)).toBeGreaterThanOrEqual(lines.topOf(shown[at - 1]!) + 30)
      }
    }
  })
})

describe('what stands at the top of the window', () => {
  test('stays there when groups above it are closed', () => {
    const open = layOut()
    const closed = layOut({ collapsed: withCollapsed(NONE_COLLAPSED, [null], true) })
    const anchor = anchorOf(open, open.topOf(4) + 10)
    expect(topOfAnchor(anchor, closed)).toBe(closed.topOf(4) + 10)
    expect(topOfAnchor(anchorOf(closed, closed.topOf(4) + 10), open)).toBe(open.topOf(4) + 10)
    // A row that is hidden leaves its place to the header that hides it.
    expect(topOfAnchor(anchorOf(open, open.topOf(1)), closed)).toBe(0)
    const header = anchorOf(open, 2 * GROUP_HEIGHT + 60 + 5)
    expect(topOfAnchor(header, closed)).toBe(GROUP_HEIGHT + 5)
  })

  test('follows another height of rows', () => {
    const [low, high] = [plainLines(100, 30), plainLines(100, 60)]
    expect(topOfAnchor(anchorOf(low, 45), high)).toBe(90)
  })
})

describe('a range of rows', () => {
  test('is what is shown of it, in pieces between headers, or in runs of neighbours', () => {
    const lines = layOut({ collapsed: withCollapsed(NONE_COLLAPSED, ['Done', 'Ann'], true) })
    expect(shownRuns(lines, { first: 1, last: 5 })).toEqual([
      { first: 1, last: 1 },
      { first: 4, last: 5 },
    ])
    expect(shownPieces(layOut(), { first: 1, last: 5 })).toEqual([
      { first: 1, last: 1 },
      { first: 2, last: 3 },
      { first: 4, last: 5 },
    ])
    expect(shownRuns(layOut(), { first: 1, last: 5 })).toEqual([{ first: 1, last: 5 }])
    expect(shownRuns(plainLines(9, 30), { first: 1, last: 5 })).toEqual([{ first: 1, last: 5 }])
  })
})

describe('the headers that are held at the top', () => {
  test('are those of the group that one is in, and none of a closed one', () => {
    const lines = layOut()
    const held = (top: number) => stickyGroupsAt(lines, top)
    expect(held(0)).toEqual([])
    expect(held(1)).toEqual([null, 'Ann'])
    expect(held(lines.topOf(2))).toEqual(['Done', 'Ann'])
    expect(held(lines.topOf(6))).toEqual(['Done', 'Bob'])
    const closed = layOut({ collapsed: withCollapsed(NONE_COLLAPSED, ['Done', 'Ann'], true) })
    expect(stickyGroupsAt(closed, closed.topOf(2) - GROUP_HEIGHT + 1)).toEqual(['Done'])
  })
})
