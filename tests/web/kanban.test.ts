import { describe, expect, test } from 'bun:test'
import type { Operation } from '../../src/core/changes.ts'
import { peopleValue } from '../../src/core/fields/people.ts'
import type { Field } from '../../src/core/model.ts'
import { type DropRequest, dropOperations } from '../../web/features/views/kinds/kanban/card-moves.ts'
import {
  cardAt,
  cardTops,
  cardWindow,
  dropIndexAmong,
  HEAD,
  nearestStack,
  stepFocus,
} from '../../web/features/views/kinds/kanban/kanban-geometry.ts'
import {
  moveStack,
  type StackSources,
  shownStacks,
  stacksOf,
  withAllStacks,
  withStack,
} from '../../web/features/views/kinds/kanban/stacks.ts'
import {
  type StackBy,
  stackByOf,
  stackKey,
  stackValue,
  stackValues,
  takesRecords,
} from '../../web/records/layouts/stack-by.ts'
import { memoryField } from './memory-records.ts'

const STATUS = memoryField('status', 'SingleSelect', {
  options: { choices: ['todo', 'doing', 'done'].map((title) => ({ id: title, title, color: '#cfdffe' })) },
})
const LINK = memoryField('project', 'LinkToAnotherRecord', {
  options: { kind: 'bt', relatedTableId: 'm2', keyFieldId: 'projectId', holdsKey: true },
})
const FIELDS = [
  STATUS,
  memoryField('who', 'User'),
  memoryField('ready', 'Checkbox'),
  LINK,
  memoryField('projectId', 'ForeignKey'),
  // As the field type names it: a field of several people was taken for one.
  memoryField('team', 'User', { options: peopleValue.options.parse({ multiple: true }) }),
  memoryField('title'),
]

function by(fieldId: string, change: Partial<Field> = {}): StackBy {
  const found = stackByOf(
    FIELDS.map((field) => (field.id === fieldId ? { ...field, ...change } : field)),
    fieldId,
  )
  if (!found) throw new Error(`${fieldId} cannot be stacked by`)
  return found
}

const counted = (counts: Record<string, number>): StackSources['totals'] =>
  new Map(
    Object.entries(counts).map(([key, count]) => [key === 'null' ? null : key, { count, summary: null }]),
  )

const keysOf = (sources: Partial<StackSources> & { by: StackBy }) =>
  stacksOf({ options: { stacks: [] }, people: [], totals: counted({}), ...sources }).map(({ key }) => key)

describe('what a kanban is stacked by', () => {
  test('is a choice, one person, a tick or the key of a link to one record; nothing else', () => {
    expect(['status', 'who', 'ready', 'project'].map((id) => by(id).kind)).toEqual([
      ...(['option', 'person', 'tick', 'record'] as const),
    ])
    expect(by('project').keyField.id).toBe('projectId')
    expect(['team', 'title', 'gone'].map((id) => stackByOf(FIELDS, id))).toEqual([null, null, null])
  })

  test('turns values into stacks and back', () => {
    expect([stackKey(by('status'), ''), stackKey(by('status'), 'todo')]).toEqual([null, 'todo'])
    // A box that nobody has touched is off.
    expect([stackKey(by('ready'), null), stackKey(by('ready'), true)]).toEqual(['false', 'true'])
    expect([stackValue(by('ready'), 'false'), stackValue(by('project'), '7')]).toEqual([false, 7])
    expect(stackValues(by('status'), 'done', 'done')).toEqual({ status: 'done' })
    expect(stackValues(by('project'), '7', 'Apollo')).toEqual({ project: '[1,[[7,"Apollo"]]]' })
    expect(stackValues(by('who'), null, '')).toEqual({})
    // Left out, the field would get its default.
    expect(stackValues(by('status', { defaultValue: 'todo' }), null, '')).toEqual({ status: null })
  })

  test('takes no record into a stack that its field has no value for', () => {
    expect(takesRecords(by('status'), null)).toBe(true)
    expect(takesRecords(by('status', { required: true }), null)).toBe(false)
    expect(takesRecords(by('status', { readOnlyReason: 'generated' }), 'todo')).toBe(false)
    expect(takesRecords(by('ready'), null)).toBe(false)
  })
})

describe('the stacks of a kanban', () => {
  test('are the options in their order, behind those without one, and values that lost their option', () => {
    expect(keysOf({ by: by('status'), totals: counted({ lost: 2, done: 1 }) })).toEqual([
      null,
      'todo',
      'doing',
      'done',
      'lost',
    ])
    expect(keysOf({ by: by('status', { required: true }) })).toEqual(['todo', 'doing', 'done'])
    expect(keysOf({ by: by('ready') })).toEqual(['false', 'true'])
  })

  test('are the people of the base, of a large one only those who have cards', () => {
    const people = ['us1', 'us2'].map((id) => ({ id, email: `${id}@example.com`, displayName: null }))
    const totals = counted({ us9: 1 })
    expect(keysOf({ by: by('who'), people, totals })).toEqual([null, 'us1', 'us2', 'us9'])
    const many = Array.from({ length: 31 }, (_, at) => ({ ...people[0]!, id: `us${at}` }))
    expect(keysOf({ by: by('who'), people: many, totals })).toEqual([null, 'us9'])
    expect(keysOf({ by: by('project'), totals: counted({ 3: 1, 5: 0 }) })).toEqual([null, '3'])
  })

  test('keep what was arranged, with new options at the end and deleted ones gone', () => {
    const line = (key: string | null, more = {}) => ({ key, isCollapsed: false, isHidden: false, ...more })
    const options = { stacks: [line('done', { isHidden: true }), line('gone'), line('todo'), line(null)] }
    const stacks = stacksOf({ by: by('status'), options, people: [], totals: counted({ todo: 1 }) })
    expect(stacks.map(({ key }) => key)).toEqual(['done', 'todo', null, 'doing'])
    expect(shownStacks(stacks, false).map(({ key }) => key)).toEqual(['todo', null, 'doing'])
    expect(shownStacks(stacks, true).map(({ key }) => key)).toEqual(['todo'])
    expect(moveStack(stacks, 'doing', 'todo').map(({ key }) => key)).toEqual(['done', 'doing', 'todo', null])
    expect(moveStack(stacks, 'todo', undefined).map(({ key }) => key)).toEqual([
      'done',
      null,
      'doing',
      'todo',
    ])
    expect(withStack(stacks, 'todo', { isCollapsed: true })[1]).toEqual(line('todo', { isCollapsed: true }))
  })

  test('keep the settings of those that have no records at the moment, as during a search', () => {
    const line = (key: string | null, more = {}) => ({ key, isCollapsed: false, isHidden: false, ...more })
    const arranged = [line('7', { isHidden: true }), line('3'), line('5', { isCollapsed: true })]
    const found = (totals: StackSources['totals'], stacks = arranged) =>
      stacksOf({ by: by('project'), options: { stacks }, people: [], totals })
    const searched = found(counted({ 3: 1 }))
    expect(shownStacks(searched, false).map(({ key }) => key)).toEqual(['3', null])
    expect(withStack(searched, '3', { isCollapsed: true })).toEqual([
      line('7', { isHidden: true }),
      line('3', { isCollapsed: true }),
      line('5', { isCollapsed: true }),
      line(null),
    ])
    // While the counts are being read.
    expect(withAllStacks(found(null), { isCollapsed: true })).toContainEqual(
      line('7', { isHidden: true, isCollapsed: true }),
    )
    // There is room for all that have records, and for the hidden ones before others.
    const many = Array.from({ length: 999 }, (_, at) => line(`${at + 10}`))
    const full = found(counted({ 3: 1, 4: 1 }), [...many, line('7', { isHidden: true })])
    expect(full).toHaveLength(1000)
    const keys = full.map(({ key }) => key)
    expect(keys.slice(-4)).toEqual(['7', null, '3', '4'])
    expect(keys.includes('1008')).toBe(false)
  })
})

describe('dropping cards', () => {
  const STACKS: Record<string, number[]> = { todo: [1, 2, 3], done: [4, 5] }
  const drop = (ids: number[], to: DropRequest['to'], viewId: string | null = 'vw1'): Operation[] =>
    dropOperations({
      by: by('status'),
      ids,
      to,
      viewId,
      keyOf: (id) => Object.keys(STACKS).find((key) => STACKS[key]?.includes(Number(id))) ?? null,
      nextOf(id) {
        const stack = Object.values(STACKS).find((all) => all.includes(Number(id)))
        return stack?.[stack.indexOf(Number(id)) + 1] ?? null
      },
    })
  const move = (ids: number[], before: number | null): Operation => ({
    kind: 'move',
    tableId: 'm1',
    ids,
    before,
    viewId: 'vw1',
  })
  const update = (id: number, status: string | null): Operation => ({
    kind: 'update',
    tableId: 'm1',
    rows: [{ id, values: { status } }],
  })

  test('within a stack writes their place in the view alone', () => {
    expect(drop([3], { key: 'todo', before: 1 })).toEqual([move([3], 1)])
    expect(drop([1], { key: 'todo', before: null })).toEqual([move([1], null)])
  })

  test('into another stack writes its value and their place, as one change', () => {
    expect(drop([2], { key: 'done', before: 5 })).toEqual([update(2, 'done'), move([2], 5)])
    expect(drop([2], { key: null, before: null })).toEqual([update(2, null), move([2], null)])
    expect(drop([1, 4], { key: 'done', before: null })).toEqual([update(1, 'done'), move([1, 4], null)])
  })

  test('where they stand already, or where the order is not theirs, writes nothing of the kind', () => {
    expect(drop([2], { key: 'todo', before: 3 })).toEqual([])
    // Ahead of itself is where it stands.
    expect(drop([2], { key: 'todo', before: 2 })).toEqual([])
    expect(drop([1, 2], { key: 'todo', before: 3 })).toEqual([])
    expect(drop([3], { key: 'todo', before: 1 }, null)).toEqual([])
    expect(drop([2], { key: 'done', before: 5 }, null)).toEqual([update(2, 'done')])
  })
})

describe('places on the screen', () => {
  test('a drop goes ahead of the first card whose middle lies below, and into the nearest stack', () => {
    const boxes = [3, 4, 5].map((index) => ({ index, top: index * 100, bottom: index * 100 + 80 }))
    expect([0, 345, 400, 999].map((y) => dropIndexAmong(boxes, y))).toEqual([3, 4, 4, 6])
    expect(dropIndexAmong([], 50)).toBe(0)
    const stacks = [0, 300, 600].map((start) => ({ start, end: start + 290 }))
    expect([-50, 100, 294, 2000].map((x) => nearestStack(stacks, x))).toEqual([0, 0, 0, 2])
    expect(nearestStack([], 5)).toBe(-1)
  })

  test('of thousands of cards those in sight are drawn', () => {
    const tops = cardTops(5000, (index) => (index % 2 === 0 ? 50 : 150), 8)
    expect([tops[0], tops[2], tops[5000]]).toEqual([0, 216, 5000 * 108])
    expect([cardAt(tops, -10), cardAt(tops, 58), cardAt(tops, 1e9)]).toEqual([0, 1, 4999])
    const { first, last } = cardWindow(tops, 100_000, 800)
    expect(tops[first]!).toBeLessThan(100_000)
    expect(tops[last + 1]!).toBeGreaterThan(100_800)
    expect(last - first).toBeLessThan(25)
    expect(
      cardWindow(
        cardTops(0, () => 0, 8),
        0,
        800,
      ),
    ).toEqual({ first: 0, last: -1 })
  })

  test('the arrows go from card to card, to the heads, and across to what is there', () => {
    const stacks = [
      { key: 'a', count: 5 },
      { key: 'b', count: 2 },
      { key: 'c', count: 0 },
    ]
    const step = (key: string, index: number, to: Parameters<typeof stepFocus>[2]) => {
      const next = stepFocus(stacks, { key, index }, to)
      return `${next.key} ${next.index}`
    }
    expect(step('a', 0, 'up')).toBe(`a ${HEAD}`)
    expect(step('a', HEAD, 'down')).toBe('a 0')
    expect(step('a', 4, 'down')).toBe('a 4')
    expect(step('a', 4, 'after')).toBe('b 1')
    expect(step('b', 1, 'after')).toBe(`c ${HEAD}`)
    expect(step('c', HEAD, 'after')).toBe(`c ${HEAD}`)
    expect([step('a', 3, 'first'), step('a', 3, 'last')]).toEqual(['a 0', 'a 4'])
    expect(step('gone', 3, 'down')).toBe('a 0')
  })
})
