import { describe, expect, test } from 'bun:test'
import type { CellValue } from '../../src/core/fields/field-type.ts'
import type { View } from '../../src/core/model.ts'
import { passwordStrength } from '../../src/core/shares.ts'
import { questionsOf } from '../../src/core/views/form-answers.ts'
import { readPrefill } from '../../web/features/forms/prefill.ts'
import { barColor, groundColor } from '../../web/features/layout/readable-color.ts'
import { canPrefill, isPrefillValue, prefillAddress } from '../../web/features/shares/prefill.ts'
import { embedCode, visitorSummary } from '../../web/features/shares/visitor-page.ts'
import { rowColors } from '../../web/features/views/coloring/row-colors.ts'
import { readIcon } from '../../web/features/views/icons/chosen-icon.tsx'
import { firstSetup, setupOptions } from '../../web/features/views/manage/new-view.ts'
import {
  applyChange,
  isFiltering,
  keptBecause,
  mergeChanges,
  withOptions,
} from '../../web/features/views/state/view-changes.ts'
import { memoryField } from './memory-records.ts'

const CHOICES = [
  { id: 'a', title: 'Open', color: '#cfdffe' },
  { id: 'b', title: 'Closed', color: '#7a0000' },
]
const title = memoryField('title', 'SingleLineText', { isDisplay: true })
const stock = memoryField('stock', 'Number')
const status = memoryField('status', 'SingleSelect', { options: { choices: CHOICES } })
const due = memoryField('due', 'Date', { options: { format: 'YYYY-MM-DD' } })
const end = memoryField('end', 'Date', { options: { format: 'YYYY-MM-DD' } })
const done = memoryField('done', 'Checkbox')
const FIELDS = [title, stock, status, due, end, done]

const COLUMNS = FIELDS.map(({ id }, at) => ({
  fieldId: id,
  show: id !== 'due',
  order: at,
  width: 200,
  summary: null,
  form: null,
}))

const view = (more: Partial<View> = {}): View => ({
  id: 'vw1',
  tableId: 'm1',
  title: 'View',
  description: null,
  kind: 'grid',
  isDefault: false,
  order: 1,
  lock: 'collaborative',
  ownerId: null,
  meta: {},
  rowHeight: 'short',
  frozen: 1,
  fields: [],
  filter: null,
  sorts: [],
  groups: [],
  coloring: null,
  options: {},
  hiddenFrom: [],
  isShared: false,
  ...more,
})

describe('changes of a view', () => {
  test('that were kept are saved as one: the later wins, column by column', () => {
    const sorts = [{ fieldId: 'stock', direction: 'asc' as const }]
    const merged = mergeChanges([
      { kind: 'update', patch: { rowHeight: 'tall', sorts: [] } },
      { kind: 'arrange', fields: [{ fieldId: 'stock', show: false, width: 90 }] },
      { kind: 'update', patch: { sorts } },
      {
        kind: 'arrange',
        fields: [
          { fieldId: 'stock', show: true },
          { fieldId: 'due', order: 2 },
        ],
      },
    ])
    expect(merged).toEqual({
      patch: { rowHeight: 'tall', sorts },
      fields: [
        { fieldId: 'stock', show: true, width: 90 },
        { fieldId: 'due', order: 2 },
      ],
    })
    expect(applyChange(view(), { kind: 'update', patch: { sorts } }).sorts).toEqual(sorts)
  })

  test('are kept for the visit by role, by lock, and in what is somebody else’s', () => {
    expect(keptBecause({ lock: 'collaborative', ownerId: 'ann' }, true, 'bob')).toBe(null)
    expect(keptBecause({ lock: 'collaborative', ownerId: 'ann' }, false, 'ann')).toBe('role')
    expect(keptBecause({ lock: 'locked', ownerId: 'ann' }, true, 'ann')).toBe('locked')
    expect(keptBecause({ lock: 'personal', ownerId: 'ann' }, true, 'bob')).toBe('personal')
    expect(keptBecause({ lock: 'personal', ownerId: 'ann' }, true, 'ann')).toBe(null)
    expect(keptBecause({ lock: 'personal', ownerId: null }, true, 'bob')).toBe(null)
  })

  test('of filters, sorts and groups are told from all others', () => {
    expect(isFiltering({ kind: 'update', patch: { filter: null, groups: [] } })).toBe(true)
    expect(isFiltering({ kind: 'update', patch: { filter: null, rowHeight: 'tall' } })).toBe(false)
    expect(isFiltering({ kind: 'arrange', fields: [] })).toBe(false)
  })

  test('of one option keep the others of the kind', () => {
    const options = { stackFieldId: 'status', hideEmpty: true }
    expect(withOptions(view({ kind: 'kanban', options }), 'kanban', { hideEmpty: false })).toMatchObject({
      stackFieldId: 'status',
      hideEmpty: false,
      coverFit: 'fit',
    })
  })
})

describe('colours of records', () => {
  const row = (values: Record<string, CellValue>) => ({ values: (id: string) => values[id] ?? null })
  const moment = { now: new Date('2026-11-20T12:00:00Z') }

  test('follow the option of a select; nothing without one, or where the field is gone', () => {
    const colorOf = rowColors({ mode: 'select', fieldId: 'status', isBackground: true }, FIELDS, moment)
    const open = colorOf?.(row({ status: 'Open' }))
    expect(open).toMatchObject({ isBackground: true })
    expect(colorOf?.(row({ status: 'Open' }))).toBe(open!)
    expect(colorOf?.(row({ status: null }))).toBe(null)
    expect(colorOf?.(row({ status: 'Renamed' }))).toBe(null)
    expect(rowColors({ mode: 'select', fieldId: 'gone', isBackground: true }, FIELDS, moment)).toBe(null)
  })

  test('follow the first condition that is met; one without a value colours nothing', () => {
    const rule = (color: string, operator: string, value: CellValue) => ({
      color,
      isBackground: false,
      filter: { fieldId: 'stock', operator, value },
    })
    const rules = [rule('#ff0000', 'gt', null), rule('#00ff00', 'gt', 10), rule('#0000ff', 'gt', 5)]
    const colorOf = rowColors({ mode: 'filter', rules }, FIELDS, moment)
    expect(colorOf?.(row({ stock: 20 }))?.color).toBe(barColor('#00ff00')!)
    expect(colorOf?.(row({ stock: 7 }))?.color).toBe(barColor('#0000ff')!)
    expect(colorOf?.(row({ stock: 1 }))).toBe(null)
    expect(rowColors({ mode: 'filter', rules: rules.slice(0, 1) }, FIELDS, moment)).toBe(null)
  })

  test('leave every text readable on the ground, and are seen as a bar', () => {
    for (const color of ['#cfdffe', '#7a0000', '#000000', '#ffffff', '#ffeab6', '#00ff00', '#3366ff']) {
      expect(contrast(groundColor(color) ?? '', '#586174')).toBeGreaterThanOrEqual(4.5)
      expect(contrast(barColor(color) ?? '', '#ffffff')).toBeGreaterThanOrEqual(2.95)
    }
    expect(groundColor('red')).toBe(null)
  })
})

describe('a new view', () => {
  test('begins with the field that fits its kind, and says so to the server', () => {
    expect(firstSetup('kanban', FIELDS, undefined)).toEqual({ fieldId: 'status', toFieldId: null })
    expect(firstSetup('map', FIELDS, undefined).fieldId).toBe(null)
    expect(setupOptions('grid', { fieldId: null, toFieldId: null }, undefined)).toBe(undefined)
    expect(setupOptions('calendar', { fieldId: 'due', toFieldId: 'end' }, undefined)).toEqual({
      ranges: [{ fromFieldId: 'due', toFieldId: 'end' }],
    })
  })

  test('keeps what its kind has in the view it is copied from, but no stacks of another field', () => {
    const stacks = [{ key: 'Open', isCollapsed: true, isHidden: false }]
    const kanban = view({ kind: 'kanban', options: { stackFieldId: 'status', stacks, hideEmpty: true } })
    const same = setupOptions('kanban', { fieldId: 'status', toFieldId: null }, kanban)
    expect(same).toMatchObject({ stackFieldId: 'status', stacks, hideEmpty: true })
    const other = setupOptions('kanban', { fieldId: 'done', toFieldId: null }, kanban)
    expect(other).toMatchObject({ stackFieldId: 'done', stacks: [], hideEmpty: true })
    const calendar = view({
      kind: 'calendar',
      options: { ranges: [{ fromFieldId: 'due', toFieldId: 'end' }] },
    })
    expect(firstSetup('calendar', FIELDS, calendar)).toEqual({ fieldId: 'due', toFieldId: 'end' })
    expect(firstSetup('kanban', FIELDS, calendar).fieldId).toBe('status')
  })
})

test('an icon is one picture; names of icons that other programs keep are none', () => {
  expect(readIcon({ icon: '👩‍💻' })).toBe('👩‍💻')
  expect(readIcon({ icon: ' ★★' })).toBe('★')
  for (const icon of ['ph:star', '', 7, null, undefined]) expect(readIcon({ icon })).toBe(null)
})

describe('a link to a form', () => {
  const QUESTIONS = questionsOf(view({ kind: 'form', fields: COLUMNS }), FIELDS)

  test('carries answers by title and is read back, whatever stands in them', () => {
    const address = prefillAddress(
      'https://host/#/nc/form/x',
      [
        { title: 'stock', text: '7' },
        { title: 'title', text: 'a & b = "ü"' },
        { title: 'done', text: '' },
      ],
      'hidden',
    )
    const query = new URLSearchParams(address.split('?')[1])
    expect(readPrefill(query, QUESTIONS)).toEqual({
      values: { stock: 7, title: 'a & b = "ü"' },
      hidden: new Set(['stock', 'title']),
      readOnly: new Set(),
    })
    expect(prefillAddress('https://host/x', [{ title: 'done', text: '' }], 'hidden')).toBe('https://host/x')
  })

  test('is not offered for fields that it cannot fill in, and refuses what does not fit', () => {
    const formula = memoryField('sum', 'Formula', { options: { formula: '1' } })
    expect(canPrefill(formula)).toBe(false)
    expect(isPrefillValue(stock, 'seven')).toBe(false)
    expect(isPrefillValue(stock, '')).toBe(true)
  })
})

describe('what a public link says of itself', () => {
  test('names the fields that are seen, those that are not, and whether records are left out', () => {
    const filter = { fieldId: 'stock', operator: 'gt', value: 3 }
    expect(visitorSummary({ fields: FIELDS }, view({ fields: COLUMNS, filter })).join(' ')).toBe(
      'Visitors see 5 fields. 1 hidden field is not accessible. Only records that match 1 condition are visible.',
    )
    expect(visitorSummary({ fields: FIELDS }, view({ kind: 'form', fields: COLUMNS })).join(' ')).toBe(
      'Visitors see 5 questions. Records are not visible.',
    )
    const options = { stackFieldId: 'stock', stacks: [{ key: 'Late', isHidden: true }] }
    const board = view({ kind: 'kanban', fields: COLUMNS, options })
    expect(visitorSummary({ fields: FIELDS }, board).at(-1)).toBe('Only records in visible stacks are shown.')
    expect(visitorSummary({ fields: FIELDS }, { ...board, filter }).slice(-2)).toEqual([
      'Only records that match 1 condition are visible.',
      'Records in hidden stacks are not shown.',
    ])
  })

  test('embeds under any title', () => {
    expect(embedCode('https://h/#/nc/view/x', 'A "b" <c> & d')).toContain(
      'title="A &quot;b&quot; &lt;c&gt; &amp; d"',
    )
  })

  test('tells a password that is soon found from one that is not', () => {
    const strengths = ['abc', 'aaaaaaaaaaaaaaaa', 'summer', 'Summer2026', 'correct horse battery']
    expect(strengths.map(passwordStrength)).toEqual(['short', 'weak', 'weak', 'fair', 'strong'])
  })
})

/** WCAG's ratio, written out once more: the test must not trust what it tests. */
function contrast(a: string, b: string): number {
  const luminance = (hex: string): number => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
      const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return (light + 0.05) / (dark + 0.05)
}
