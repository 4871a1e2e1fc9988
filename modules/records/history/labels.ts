import type { Label } from '../../../src/core/actions.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import type { Field, Table, ViewField } from '../../../src/core/model.ts'

/** A value of a record before and after an action, as text. */
export interface LabelledValue {
  field: string
  /** Null for a link, whose change is told by numbers. */
  before: string | null
  after: string | null
  linked?: { added: number; removed: number }
}

/** What is known of an entry of the log when it is named. */
export interface LabelFacts {
  kind: string
  records: number
  table: string
  view: string
  field: string
  /** The data source of a synchronisation. */
  source: string
  /** The name of the record, where the action changed one. */
  record: string | null
  /** The changed values of that record, or of the first of several. */
  values: LabelledValue[]
  /** What the owner of the entry keeps in the log. */
  detail: unknown
  fieldTitle(fieldId: string): string
}

const label = (text: string, params: Label['params'] = {}): Label => ({ text, params })

/** Names an action in concrete terms: `Qty of Item 3: 42 → 4242`, `Delete field Qty from weather`. */
export function labelOf(facts: LabelFacts): Label {
  const [owner] = facts.kind.split('.')
  switch (owner) {
    case 'records':
      return recordsLabel(facts)
    case 'table':
      return tableLabel(facts)
    case 'field':
      return fieldLabel(facts)
    case 'view':
      return viewLabel(facts)
    case 'source':
      return label('Synchronise with {source}', { source: facts.source })
    default:
      return label('Change in {table}', { table: facts.table })
  }
}

/** The label for a number of records: `text` has `{n} records`. */
const counted = (n: number, text: string, table: string): Label =>
  n === 1 ? label(text.replace('{n} records', '1 record'), { table }) : label(text, { n, table })

function recordsLabel(facts: LabelFacts): Label {
  const { kind, records: n, table, record } = facts
  const one = n === 1 && record !== null
  switch (kind) {
    case 'records.import':
      return counted(n, 'Import of {n} records into {table}', table)
    case 'records.insert':
      return one
        ? label('New record {record} in {table}', { record, table })
        : n === 1
          ? label('1 new record in {table}', { table })
          : label('{n} new records in {table}', { n, table })
    case 'records.delete':
      return one
        ? label('Delete record {record} from {table}', { record, table })
        : counted(n, 'Delete {n} records from {table}', table)
    case 'records.purge':
      return counted(n, 'Delete {n} records from {table} forever', table)
    case 'records.restore':
      return one
        ? label('Restore record {record} in {table}', { record, table })
        : counted(n, 'Restore {n} records in {table}', table)
    case 'records.move':
      if ((facts.detail as { viewId?: string } | null)?.viewId !== undefined)
        return one
          ? label('Move record {record} in view {view}', { record, view: facts.view })
          : n === 1
            ? label('Move 1 record in view {view}', { view: facts.view })
            : label('Move {n} records in view {view}', { n, view: facts.view })
      return one
        ? label('Move record {record} in {table}', { record, table })
        : counted(n, 'Move {n} records in {table}', table)
    default:
      return valuesLabel(facts)
  }
}

/** Most fields that a label names. */
const NAMED_FIELDS = 3

function valuesLabel({ records: n, table, record, values }: LabelFacts): Label {
  const [value, ...more] = values
  const fields = values.map(({ field }) => field).join(', ')
  if (n > 1 || record === null) {
    if (value && values.length <= NAMED_FIELDS)
      return n === 1
        ? label('Change {fields} in 1 record of {table}', { fields, table })
        : label('Change {fields} in {n} records of {table}', { fields, n, table })
    return counted(n, 'Edit {n} records in {table}', table)
  }
  if (!value) return label('Edit record {record} in {table}', { record, table })
  if (more.length > 0) {
    return values.length <= NAMED_FIELDS
      ? label('{fields} of {record}', { fields, record })
      : label('{count} fields of {record}', { count: values.length, record })
  }
  const { field, before, after, linked } = value
  if (linked) {
    const { added, removed } = linked
    if (removed === 0) return label('{field} of {record}: {added} linked', { field, record, added })
    if (added === 0) return label('{field} of {record}: {removed} unlinked', { field, record, removed })
    return label('{field} of {record}: {added} linked, {removed} unlinked', {
      field,
      record,
      added,
      removed,
    })
  }
  return label('{field} of {record}: {before} → {after}', {
    field,
    record,
    before: before || '(empty)',
    after: after || '(empty)',
  })
}

interface TableDetail {
  before?: Pick<Table, 'title' | 'description' | 'meta' | 'order'>
  after?: Pick<Table, 'title' | 'description' | 'meta' | 'order'>
  /** How many records were imported into the new table. */
  imported?: number
}

function tableLabel({ kind, table, detail }: LabelFacts): Label {
  const { before, after, imported } = (detail ?? {}) as TableDetail
  switch (kind) {
    case 'table.create':
      return imported === undefined
        ? label('Create table {table}', { table })
        : counted(imported, 'Import of {n} records into {table}', table)
    case 'table.delete':
      return label('Delete table {table}', { table })
    case 'table.restore':
      return label('Restore table {table}', { table })
    default:
      break
  }
  if (before && after && before.title !== after.title)
    return label('Rename table {from} to {to}', { from: before.title, to: after.title })
  if (before?.order !== after?.order) return label('Move table {table}', { table })
  if (before?.description !== after?.description)
    return label('Change description of table {table}', { table })
  return label('Change icon of table {table}', { table })
}

interface FieldDetail {
  before?: Pick<Field, 'title' | 'type' | 'options' | 'columnName'> | string
  after?: Pick<Field, 'title' | 'type' | 'options' | 'columnName'> | string
}

function fieldLabel({ kind, table, field, detail, fieldTitle }: LabelFacts): Label {
  const { before, after } = (detail ?? {}) as FieldDetail
  switch (kind) {
    case 'field.create':
      return label('Create field {field} in {table}', { field, table })
    case 'field.delete':
      return label('Delete field {field} from {table}', { field, table })
    case 'field.restore':
      return label('Restore field {field} in {table}', { field, table })
    case 'field.display':
      return label('Display field of {table}: {from} → {to}', {
        table,
        from: fieldTitle(String(before)),
        to: fieldTitle(String(after)),
      })
    default:
      break
  }
  if (typeof before !== 'object' || typeof after !== 'object')
    return label('Change field {field} in {table}', { field, table })
  if (before.title !== after.title)
    return label('Rename field {from} in {table} to {to}', { from: before.title, to: after.title, table })
  if (before.type !== after.type) {
    return label('Type of field {field} in {table}: {from} → {to}', {
      field,
      table,
      from: fieldType(before.type).label,
      to: fieldType(after.type).label,
    })
  }
  return isOptionsChange(detail)
    ? label('Change options of field {field} in {table}', { field, table })
    : label('Change field {field} in {table}', { field, table })
}

/** True for an update of a field that changed its options alone, such as a new choice of a select field. */
export function isOptionsChange(detail: unknown): boolean {
  const { before, after } = (detail ?? {}) as { before?: object; after?: object }
  if (typeof before !== 'object' || typeof after !== 'object') return false
  return Object.keys(after).every(
    (key) =>
      key === 'options' ||
      Bun.deepEquals((before as Record<string, unknown>)[key], (after as Record<string, unknown>)[key]),
  )
}

const VIEW_PARTS: Record<string, string> = {
  description: 'Change description of view {view} in {table}',
  rowHeight: 'Change row height of view {view} in {table}',
  frozen: 'Change frozen columns of view {view} in {table}',
  filter: 'Change filter of view {view} in {table}',
  sorts: 'Change sort of view {view} in {table}',
  meta: 'Change icon of view {view} in {table}',
  lock: 'Change lock of view {view} in {table}',
  order: 'Move view {view} in {table}',
  groups: 'Change grouping of view {view} in {table}',
  coloring: 'Change colours of view {view} in {table}',
  ownedBy: 'Change owner of view {view} in {table}',
}

interface ViewDetail {
  before?: Record<string, unknown>
  after?: Record<string, unknown>
  changes?: unknown[]
}

function viewLabel(facts: LabelFacts): Label {
  const { kind, view, table, detail } = facts
  const { before, after, changes } = (detail ?? {}) as ViewDetail
  switch (kind) {
    case 'view.create':
      return label('Create view {view} in {table}', { view, table })
    case 'view.delete':
      return label('Delete view {view} from {table}', { view, table })
    case 'view.arrange':
      return arrangeLabel(facts)
    case 'view.visibility':
      return (changes?.length ?? 0) === 1
        ? label('Change who sees view {view} of {table}', { view, table })
        : label('Change who sees {n} views', { n: changes?.length ?? 0 })
    default:
      break
  }
  const keys = Object.keys(after ?? {}).filter((key) => !Bun.deepEquals(before?.[key], after?.[key]))
  if (keys.includes('title')) {
    return label('Rename view {from} in {table} to {to}', {
      table,
      from: String(before?.title),
      to: String(after?.title),
    })
  }
  const [only] = keys
  const text = keys.length === 1 && only ? VIEW_PARTS[only] : undefined
  return label(text ?? 'Change settings of view {view} in {table}', { view, table })
}

function arrangeLabel({ view, detail, fieldTitle }: LabelFacts): Label {
  const { before = [], after = [] } = (detail ?? {}) as { before?: ViewField[]; after?: ViewField[] }
  const known = new Map(before.map((line) => [line.fieldId, line]))
  const changed = after.filter((line) => !Bun.deepEquals(known.get(line.fieldId), line))
  const differing = (key: keyof ViewField) =>
    changed.filter((line) => !Bun.deepEquals(known.get(line.fieldId)?.[key], line[key]))
  const shown = differing('show')
  const [line] = shown.length > 0 ? shown : changed
  if (!line) return label('Change settings of view {view}', { view })
  const field = fieldTitle(line.fieldId)
  if (shown.length === 1)
    return label(line.show ? 'Show field {field} in view {view}' : 'Hide field {field} in view {view}', {
      field,
      view,
    })
  if (shown.length > 1) {
    const n = shown.length
    if (shown.every(({ show }) => show)) return label('Show {n} fields in view {view}', { n, view })
    if (shown.every(({ show }) => !show)) return label('Hide {n} fields in view {view}', { n, view })
    return label('Show or hide {n} fields in view {view}', { n, view })
  }
  const n = changed.length
  if (differing('width').length === n) {
    return n === 1
      ? label('Resize field {field} in view {view}', { field, view })
      : label('Resize {n} fields in view {view}', { n, view })
  }
  if (differing('order').length === n) {
    return n === 1
      ? label('Move field {field} in view {view}', { field, view })
      : label('Reorder fields in view {view}', { view })
  }
  if (n === 1 && differing('summary').length === 1)
    return label('Change summary of field {field} in view {view}', { field, view })
  if (n === 1) return label('Change settings of field {field} in view {view}', { field, view })
  return label('Change settings of {n} fields in view {view}', { n, view })
}
