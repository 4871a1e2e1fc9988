import { expect, test } from 'bun:test'
import type { DraftRecord, LocalCells, Unsaved } from '../../web/records/types.ts'
import { keepUnsaved, moveUnsaved, takeUnsaved } from '../../web/records/unsaved-edits.ts'

const draft = (title: string): DraftRecord => ({
  values: { title },
  before: null,
  state: 'failed',
  message: null,
  failed: new Map(),
})
const red = (fieldId: string, value: string): LocalCells =>
  new Map([[fieldId, { value, change: 1, message: 'Too long' }]])
const drafts = (...titles: string[]): Unsaved => ({
  drafts: titles.map((title) => ['new-1', draft(title)]),
  cells: [],
})
const cells = (...list: Unsaved['cells']): Unsaved => ({ drafts: [], cells: list })

test('unsaved edits of several stores of a table are all kept, until it is opened', () => {
  keepUnsaved('m1', drafts('a'))
  keepUnsaved('m1', cells([1, red('title', 'x')], [2, red('title', 'y')]))
  keepUnsaved('m1', drafts('b'))
  keepUnsaved('m1', cells([1, red('stock', '-1')], [2, red('title', 'z')]))
  keepUnsaved('m2', drafts('other'))
  const taken = takeUnsaved('m1')
  expect(taken?.drafts.map(([, { values }]) => values.title)).toEqual(['a', 'b'])
  const values = taken?.cells.map(([id, kept]) => [id, [...kept].map(([field, { value }]) => [field, value])])
  expect(values).toEqual([
    [
      1,
      [
        ['title', 'x'],
        ['stock', '-1'],
      ],
    ],
    [2, [['title', 'z']]],
  ])
  expect(takeUnsaved('m1')).toBeUndefined()
  expect(takeUnsaved('m2')?.drafts).toHaveLength(1)
})

test('unsaved edits of a table that has moved join those of its new place', () => {
  keepUnsaved('m3', drafts('a'))
  keepUnsaved('m4', drafts('b'))
  moveUnsaved('m3', { tableId: 'm4', moved: (unsaved) => unsaved })
  keepUnsaved('m3', drafts('c'))
  expect(takeUnsaved('m4')?.drafts.map(([, { values }]) => values.title)).toEqual(['b', 'a', 'c'])
})
