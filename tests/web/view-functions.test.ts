import { describe, expect, test } from 'bun:test'
import type { Filter, FilterGroup } from '../../src/core/filters/index.ts'
import type { ViewField } from '../../src/core/model.ts'
import { detectColumns, readColumn } from '../../web/features/records/paste/pasted-columns.ts'
import { draftOf, toInput, toPatch, withType } from '../../web/features/schema/field-draft.ts'
import { describeCondition, directionLabels } from '../../web/features/views/filter/describe-condition.ts'
import {
  asGroup,
  completeFilter,
  conditionsOf,
  copyAt,
  fromGroup,
  moveAt,
  newCondition,
  replaceAt,
  withField,
  withOperand,
  withOperator,
} from '../../web/features/views/filter/filter-edit.ts'
import {
  arrangeFields,
  fieldsInOrder,
  moveFields,
  shownFields,
} from '../../web/features/views/state/arrange-fields.ts'
import { compareValues, fitsOrder } from '../../web/records/record-order.ts'
import { createSendQueue } from '../../web/records/send-queue.ts'
import { memoryField } from './memory-records.ts'

const title = memoryField('title')
const stock = memoryField('stock', 'Number')
const due = memoryField('due', 'Date', { options: { format: 'YYYY-MM-DD' } })
const tags = memoryField('tags', 'MultiSelect', { options: { choices: [] } })
const created = memoryField('created', 'CreatedTime', { isSystem: true })
const FIELDS = [title, stock, due, tags, created]

const column = (fieldId: string, order: number, more: Partial<ViewField> = {}): ViewField => ({
  fieldId,
  order,
  show: true,
  width: 200,
  summary: null,
  form: null,
  ...more,
})

describe('the columns of a view', () => {
  const view = { fields: [column('stock', 1), column('title', 2), column('due', 3, { show: false })] }

  test('stand in its order; new fields come last and system ones never', () => {
    expect(fieldsInOrder(FIELDS, view).map(({ field }) => field.id)).toEqual([
      'stock',
      'title',
      'due',
      'tags',
    ])
    expect(shownFields(FIELDS, view).map(({ field }) => field.id)).toEqual(['stock', 'title', 'tags'])
  })

  test('show the display field even where the view hides it', () => {
    const hidden = { fields: [column('title', 1, { show: false })] }
    expect(shownFields([title], hidden).map(({ field }) => field.id)).toEqual(['title'])
  })

  test('are moved with as few changes as the order needs', () => {
    expect(moveFields(FIELDS, view, ['due'], 'stock')).toEqual([
      { fieldId: 'due', order: 1 },
      { fieldId: 'stock', order: 2 },
      { fieldId: 'title', order: 3 },
      { fieldId: 'tags', order: 4 },
    ])
    const ordered = { fields: [column('title', 1), column('stock', 2), column('due', 3), column('tags', 4)] }
    expect(moveFields(FIELDS, ordered, ['tags'], null)).toEqual([])
  })

  test('take changes over, and columns that the view did not have', () => {
    const next = arrangeFields(view.fields, [
      { fieldId: 'stock', width: 90 },
      { fieldId: 'tags', show: false },
    ])
    expect(next.find(({ fieldId }) => fieldId === 'stock')?.width).toBe(90)
    expect(next.find(({ fieldId }) => fieldId === 'tags')?.show).toBe(false)
  })
})

describe('editing a filter', () => {
  const a = { fieldId: 'title', operator: 'like', value: 'a' }
  const b = { fieldId: 'stock', operator: 'gt', value: 3 }
  const nested: FilterGroup = { join: 'and', children: [a, { join: 'or', children: [b] }] }

  test('replaces and removes a part by its place; a group that becomes empty goes too', () => {
    expect(replaceAt(nested, [1, 0], a)).toEqual({
      join: 'and',
      children: [a, { join: 'or', children: [a] }],
    })
    expect(replaceAt(nested, [1, 0], null)).toEqual({ join: 'and', children: [a] })
    expect(fromGroup(replaceAt(asGroup(a), [0], null))).toBeNull()
  })

  test('copies a part behind itself, and moves one within its group and not out of it', () => {
    const inner = nested.children[1]
    expect(copyAt(nested, [0]).children).toEqual([a, a, inner ?? a])
    expect(copyAt(nested, [1, 0])).toEqual(replaceAt(nested, [1], { join: 'or', children: [b, b] }))
    expect(moveAt(nested, [0], 1).children).toEqual([inner ?? a, a])
    expect(moveAt(nested, [0], -1)).toEqual(nested)
    expect(moveAt(nested, [1, 0], -1)).toEqual(nested)
  })

  test('leaves out what has no value yet', () => {
    const empty = newCondition(title)
    const filter: Filter = { join: 'and', children: [empty, b, { join: 'or', children: [empty] }] }
    expect(completeFilter(filter, FIELDS)).toEqual({ join: 'and', children: [b] })
    expect(completeFilter(empty, FIELDS)).toBeNull()
    expect(completeFilter(b, [title])).toBeNull()
  })

  test('keeps the value where the new operator or field takes its like', () => {
    expect(withOperator(b, 'lt', stock)).toEqual({ fieldId: 'stock', operator: 'lt', value: 3 })
    expect(withOperator(b, 'btw', stock).value).toEqual([])
    expect(withOperator(b, 'blank', stock).value).toBeNull()
    expect(withField(a, stock, title)).toEqual({ fieldId: 'stock', operator: 'eq', value: null })
  })

  test('gives dates a reference that goes with the operator', () => {
    const on = newCondition(due)
    expect(on.operand).toBe('exactDate')
    expect(withOperator(on, 'isWithin', due).operand).toBe('pastWeek')
    const ago = withOperand({ ...on, value: '2024-01-01' }, 'daysAgo')
    expect([ago.operand, ago.value]).toEqual(['daysAgo', null])
    expect(describeCondition({ ...ago, operator: 'lt', value: 3 }, due)).toBe('due is before 3 days ago')
  })

  test('names no value that is only kept for another operator', () => {
    const kept = { fieldId: 'due', operator: 'blank', operand: 'daysAgo' as const, value: 3 }
    expect(describeCondition(kept, due)).toBe('due is blank')
    expect(describeCondition({ fieldId: 'stock', operator: 'notblank', value: ['1', '2'] }, stock)).toBe(
      'stock is not blank',
    )
  })

  test('finds every condition with the way to it', () => {
    expect(conditionsOf(nested).map(({ path }) => path)).toEqual([[0], [1, 0]])
  })

  test('names the directions of a sort in words of the type', () => {
    expect(directionLabels(title).asc).toBe('A → Z')
    expect(directionLabels(stock).desc).toBe('9 → 1')
    expect(directionLabels(due).asc).toBe('Earliest → latest')
  })
})

describe('guessing the field of a pasted column', () => {
  test.each([
    [['1', '2', ''], 'Number'],
    [['1.5', '2'], 'Decimal'],
    [['007', '12'], 'SingleLineText'],
    [['2024-01-02', '2024-02-03'], 'Date'],
    [['yes', 'no'], 'Checkbox'],
    [['ann@example.com', 'ben@example.org'], 'Email'],
    [['https://example.com'], 'URL'],
    [['one\ntwo'], 'LongText'],
    [['one', '2'], 'SingleLineText'],
    [['', ''], 'SingleLineText'],
    // As an import has them.
    [['1/1/20', '2/1/20', 'n/a'], 'Date'],
    [['9:30', '17:05'], 'Time'],
    [['Open', 'Done', 'Open', 'Open', 'Done', 'Open'], 'SingleSelect'],
    [['Smith, John', 'Doe, Jane', 'Smith, John'], 'SingleLineText'],
    [['0.50 USD', '12 USD'], 'Currency'],
  ])('%p is %s', async (texts, type) => {
    const { fields } = await detectColumns([texts])
    expect(fields.map((field) => field.type)).toEqual([type as never])
  })

  test('goes by the header, and leaves the name to the server without one', async () => {
    const columns = [
      ['2019', '2020'],
      ['2019', '2020'],
      ['', ''],
    ]
    expect(
      (await detectColumns(columns, [' Year ', 'Qty', ''])).fields.map(({ title, type }) => [title, type]),
    ).toEqual([
      ['Year', 'Year'],
      ['Qty', 'Number'],
      [undefined, 'SingleLineText'],
    ])
    expect((await detectColumns(columns)).fields[0]?.title).toBeUndefined()
  })

  test('reads the texts as values of the field, and what is empty as no value', async () => {
    expect(readColumn(stock, ['1', '', 'x', 'n/a'])).toEqual([1, null, null, null])
    expect(readColumn(memoryField('done', 'Checkbox'), ['yes', '', 'no'])).toEqual([true, null, false])
    expect(readColumn(memoryField('stars', 'Rating', { options: { max: 5 } }), ['3', ''])).toEqual([3, null])
    const { fields, notations } = await detectColumns([['1,5', '1.000']])
    expect([fields[0]?.type, notations[0]?.decimal]).toEqual(['Decimal', ','])
    const made = memoryField('amount', 'Decimal', { options: fields[0]?.options ?? {} })
    expect(readColumn(made, ['1,5', '1.000'], notations[0])).toEqual([1.5, 1000])
  })

  test.each([
    ['years first', ['99/12/31', '01/02/03'], ['1999-12-31', '2001-02-03']],
    ['names of another language', ['13. ožujka 2024.', '5. listopada 2024.'], ['2024-03-13', '2024-10-05']],
    ['years of another era', ['31/12/2567', '1/2/2568'], ['2024-12-31', '2025-02-01']],
    ['past years', ['31/12/45', '1/2/71'], ['1945-12-31', '1971-02-01']],
  ])('reads days with %s, as it has found them', async (_, texts, days) => {
    const { fields, notations } = await detectColumns([texts], ['Birthday'])
    expect(fields[0]?.type).toBe('Date')
    const made = memoryField('day', 'Date', { options: fields[0]?.options ?? {} })
    expect(readColumn(made, texts, notations[0])).toEqual(days)
  })

  test('reads each column with its own decimal separator', async () => {
    const columns = [
      ['1.5', '2.25'],
      ['2,500', '0,5'],
    ]
    const amount = memoryField('amount', 'Decimal')
    const { notations } = await detectColumns(columns)
    expect(columns.map((texts, at) => readColumn(amount, texts, notations[at]))).toEqual([
      [1.5, 2.25],
      [2.5, 0.5],
    ])
  })
})

describe('the draft of a field', () => {
  test('keeps the choices from one select type to the other, and nothing between strangers', () => {
    const choices = [{ id: 's1', title: 'Open', color: '#eeeeee' }]
    const select = memoryField('status', 'SingleSelect', { options: { choices } })
    expect(withType(draftOf(select), 'MultiSelect').options).toEqual({ choices })
    expect(withType(draftOf(select), 'Rating').options).toMatchObject({ max: 5 })
  })

  test('has the options and the default of the field when its own type is chosen again', () => {
    const choices = [{ id: 's1', title: 'Open', color: '#eeeeee' }]
    const select = memoryField('status', 'SingleSelect', { options: { choices }, defaultValue: 'Open' })
    const draft = draftOf(select)
    expect(toPatch(withType(draft, 'SingleSelect', select), select)).toEqual({})
    const asNumber = withType(draft, 'Number', select)
    expect(toPatch(withType(asNumber, 'SingleSelect', select), select)).toEqual({})
  })

  test('sends no rules that its type cannot have, and sends them again with a type that can', () => {
    const draft = { ...draftOf(null), required: true, unique: true }
    const formula = withType(draft, 'Formula')
    expect(toInput(formula)).toMatchObject({ required: false, unique: false })
    expect(toInput(withType(formula, 'Number'))).toMatchObject({ required: true, unique: true })
    expect(toInput(withType(draft, 'Password'))).toMatchObject({ required: true, unique: false })
    const code = memoryField('code', 'SingleLineText', { unique: true })
    expect(toPatch(withType(draftOf(code), 'Password'), code)).toMatchObject({ unique: false })
  })

  test('sends what changed and no more', () => {
    const draft = draftOf(title)
    expect(toPatch(draft, title)).toEqual({})
    expect(toPatch({ ...draft, title: ' New ' }, title)).toEqual({ title: 'New' })
    expect(toPatch({ ...draft, title: '' }, title)).toEqual({})
  })

  test('keeps the options that others have added and renamed since it opened', () => {
    const choice = (id: string, title = id, color = '#cfdffe') => ({ id, title, color })
    const status = (...choices: object[]) => memoryField('status', 'SingleSelect', { options: { choices } })
    const opened = status(choice('a'), choice('b'), choice('c'))
    const latest = status(choice('a', 'A'), choice('b'), choice('c'), choice('e'))
    const draft = draftOf(opened)
    const red = choice('b', 'b', '#ffdce5')
    const edited = { ...draft, options: { choices: [red, choice('a'), choice('d')] } }
    expect(toPatch(edited, opened, latest)).toEqual({
      options: { choices: [red, choice('a', 'A'), choice('d'), choice('e')] },
    })
    expect(toPatch(draft, opened, latest)).toEqual({})
  })
})

describe('the order of a sorted list', () => {
  const record = (value: string | number | null) => () => value
  const sorts = [{ fieldId: 'x', direction: 'asc' as const }]

  test('holds a record between its neighbours', () => {
    expect(fitsOrder(sorts, record(1), record(2), record(3))).toBe(true)
    expect(fitsOrder(sorts, record(1), record(4), record(3))).toBe(false)
    expect(fitsOrder([{ fieldId: 'x', direction: 'desc' }], record(3), record(2), undefined)).toBe(true)
  })

  test('lets pass what the browser cannot know', () => {
    expect(compareValues('Äpfel', 'apfel')).toBe(0)
    expect(fitsOrder(sorts, record(null), record(2), record(3))).toBe(true)
  })
})

describe('the line of changes to the server', () => {
  test('keeps the order, goes on after a refusal, and counts what was asked for', async () => {
    const queue = createSendQueue({ isAway: () => false })
    const log: string[] = []
    const item = (name: string, fails = false) => ({
      async send() {
        log.push(`send ${name}`)
        if (fails) throw new Error('no')
      },
      done: () => void log.push(`done ${name}`),
      refused: () => void log.push(`refused ${name}`),
    })
    queue.add(item('one', true))
    queue.add(item('two'))
    await queue.whenEmpty()
    expect(log).toEqual(['send one', 'refused one', 'send two', 'done two'])
    expect([queue.addedCount(), queue.status().waiting]).toEqual([2, 0])
  })
})
