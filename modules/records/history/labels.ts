import type { Label, LabelKey, LabelParams } from '../../../src/core/actions.ts'
import { fieldType } from '../../../src/core/fields/index.ts'
import type { Field, Table, ViewField } from '../../../src/core/model.ts'

/** A record’s value before and after an action, as text. */
export interface LabelledValue {
  field: string
  /** Null for a link, whose change is described by counts. */
  before: string | null
  after: string | null
  linked?: { added: number; removed: number }
}

/** The facts about a log entry for its label. */
export interface LabelFacts {
  kind: string
  records: number
  table: string
  view: string
  field: string
  /** The data source of a synchronization. */
  source: string
  /** The record’s name, if the action changed one record. */
  record: string | null
  /** The changed values of that record, or of the first of several. */
  values: LabelledValue[]
  /** The detail in the log entry. */
  detail: unknown
  fieldTitle(fieldId: string): string
}

const label = <Key extends LabelKey>(key: Key, params: LabelParams<Key>): Label => ({ key, params })

/** Labels an action in concrete terms: `Qty of Item 3: 42 → 4242`, `Delete field Qty from weather`. */
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
      return label('synchronise_with', { source: facts.source })
    default:
      return label('change_in_table', { table: facts.table })
  }
}

function importLabel({ records, table, detail }: LabelFacts): Label {
  const { added, changed } = (detail ?? {}) as { added?: number; changed?: number }
  if (added === undefined || changed === undefined) return label('import', { count: records, table })
  return label('import_update', { added, changed, table })
}

function recordsLabel(facts: LabelFacts): Label {
  const { kind, records: n, table, record } = facts
  const one = n === 1 && record !== null
  switch (kind) {
    case 'records.import':
      return importLabel(facts)
    case 'records.insert':
      return one
        ? label('new_record_in_table', { record, table })
        : label('new_records_in_table', { count: n, table })
    case 'records.delete':
      return one
        ? label('delete_record_from_table', { record, table })
        : label('delete_records_from_table', { count: n, table })
    case 'records.purge':
      return label('delete_records_from_table_forever', { count: n, table })
    case 'records.restore':
      return one
        ? label('restore_record_in_table', { record, table })
        : label('restore_records_in_table', { count: n, table })
    case 'records.rewind':
      return isTableRewind(facts.detail)
        ? label('rewind_table', { table, count: n })
        : label('rewind_record_in_table', { record: record ?? '', table })
    case 'records.move':
      if ((facts.detail as { viewId?: string } | null)?.viewId !== undefined)
        return one
          ? label('move_record_in_view', { record, view: facts.view })
          : label('move_records_in_view', { count: n, view: facts.view })
      return one
        ? label('move_record_in_table', { record, table })
        : label('move_records_in_table', { count: n, table })
    default:
      return valuesLabel(facts)
  }
}

/** True for a table that was given the state of an earlier time, false for a single record. */
const isTableRewind = (detail: unknown): boolean => (detail as { at?: string } | null)?.at !== undefined

/** Limit of fields in a label. */
const NAMED_FIELDS = 3

function valuesLabel({ records: n, table, record, values }: LabelFacts): Label {
  const [value, ...more] = values
  const fields = values.map(({ field }) => field).join(', ')
  if (n > 1 || record === null) {
    if (value && values.length <= NAMED_FIELDS)
      return label('change_fields_in_records_of_table', { fields, count: n, table })
    return label('edit_records_in_table', { count: n, table })
  }
  if (!value) return label('edit_record_in_table', { record, table })
  if (more.length > 0) {
    return values.length <= NAMED_FIELDS
      ? label('values_changed', { fields, record })
      : label('many_values_changed', { count: values.length, record })
  }
  const { field, before, after, linked } = value
  if (linked) {
    const { added, removed } = linked
    if (removed === 0) return label('records_linked', { field, record, added })
    if (added === 0) return label('records_unlinked', { field, record, removed })
    return label('links_changed', {
      field,
      record,
      added,
      removed,
    })
  }
  return label('value_changed', {
    field,
    record,
    before: before || '(empty)',
    after: after || '(empty)',
  })
}

interface TableDetail {
  before?: Pick<Table, 'title' | 'description' | 'meta' | 'order'>
  after?: Pick<Table, 'title' | 'description' | 'meta' | 'order'>
  /** Number of records imported into the new table. */
  imported?: number
}

function tableLabel({ kind, table, detail }: LabelFacts): Label {
  const { before, after, imported } = (detail ?? {}) as TableDetail
  switch (kind) {
    case 'table.create':
      return imported === undefined
        ? label('create_table', { table })
        : label('import', { count: imported, table })
    case 'table.delete':
      return label('delete_table', { table })
    case 'table.restore':
      return label('restore_table', { table })
    default:
      break
  }
  if (before && after && before.title !== after.title)
    return label('rename_table_to', { from: before.title, to: after.title })
  if (before?.order !== after?.order) return label('move_table', { table })
  if (before?.description !== after?.description) return label('change_description_of_table', { table })
  return label('change_icon_of_table', { table })
}

interface FieldDetail {
  before?: Pick<Field, 'title' | 'type' | 'options' | 'columnName'> | string
  after?: Pick<Field, 'title' | 'type' | 'options' | 'columnName'> | string
}

function fieldLabel({ kind, table, field, detail, fieldTitle }: LabelFacts): Label {
  const { before, after } = (detail ?? {}) as FieldDetail
  switch (kind) {
    case 'field.create':
      return label('create_field_in_table', { field, table })
    case 'field.delete':
      return label('delete_field_from_table', { field, table })
    case 'field.restore':
      return label('restore_field_in_table', { field, table })
    case 'field.display':
      return label('display_field', {
        table,
        from: fieldTitle(String(before)),
        to: fieldTitle(String(after)),
      })
    default:
      break
  }
  if (typeof before !== 'object' || typeof after !== 'object')
    return label('change_field_in_table', { field, table })
  if (before.title !== after.title)
    return label('rename_field_in_table_to', { from: before.title, to: after.title, table })
  if (before.type !== after.type) {
    return label('field_type', {
      field,
      table,
      from: fieldType(before.type).label(),
      to: fieldType(after.type).label(),
    })
  }
  return isOptionsChange(detail)
    ? label('change_options_of_field_in_table', { field, table })
    : label('change_field_in_table', { field, table })
}

/** True for an update that changed only a field’s options, such as a new choice. */
export function isOptionsChange(detail: unknown): boolean {
  const { before, after } = (detail ?? {}) as { before?: object; after?: object }
  if (typeof before !== 'object' || typeof after !== 'object') return false
  return Object.keys(after).every(
    (key) =>
      key === 'options' ||
      Bun.deepEquals((before as Record<string, unknown>)[key], (after as Record<string, unknown>)[key]),
  )
}

/** Labels of view settings, which have the same parameters. */
type ViewPart = Extract<
  LabelKey,
  | 'change_description_of_view_in_table'
  | 'change_row_height_of_view_in_table'
  | 'change_frozen_columns_of_view_in_table'
  | 'change_filter_of_view_in_table'
  | 'change_sort_of_view_in_table'
  | 'change_icon_of_view_in_table'
  | 'change_lock_of_view_in_table'
  | 'move_view_in_table'
  | 'change_grouping_of_view_in_table'
  | 'change_colours_of_view_in_table'
  | 'change_owner_of_view_in_table'
>

const VIEW_PARTS: Record<string, ViewPart> = {
  description: 'change_description_of_view_in_table',
  rowHeight: 'change_row_height_of_view_in_table',
  frozen: 'change_frozen_columns_of_view_in_table',
  filter: 'change_filter_of_view_in_table',
  sorts: 'change_sort_of_view_in_table',
  meta: 'change_icon_of_view_in_table',
  lock: 'change_lock_of_view_in_table',
  order: 'move_view_in_table',
  groups: 'change_grouping_of_view_in_table',
  coloring: 'change_colours_of_view_in_table',
  ownedBy: 'change_owner_of_view_in_table',
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
      return label('create_view_in_table', { view, table })
    case 'view.delete':
      return label('delete_view_from_table', { view, table })
    case 'view.arrange':
      return arrangeLabel(facts)
    case 'view.visibility':
      return (changes?.length ?? 0) === 1
        ? label('change_who_sees_view_of_table', { view, table })
        : label('change_who_sees_views', { count: changes?.length ?? 0 })
    default:
      break
  }
  const keys = Object.keys(after ?? {}).filter((key) => !Bun.deepEquals(before?.[key], after?.[key]))
  if (keys.includes('title')) {
    return label('rename_view_in_table_to', {
      table,
      from: String(before?.title),
      to: String(after?.title),
    })
  }
  const [only] = keys
  const part = keys.length === 1 && only ? VIEW_PARTS[only] : undefined
  return label(part ?? 'change_settings_of_view_in_table', { view, table })
}

function arrangeLabel({ view, detail, fieldTitle }: LabelFacts): Label {
  const { before = [], after = [] } = (detail ?? {}) as { before?: ViewField[]; after?: ViewField[] }
  const known = new Map(before.map((line) => [line.fieldId, line]))
  const changed = after.filter((line) => !Bun.deepEquals(known.get(line.fieldId), line))
  const differing = (key: keyof ViewField) =>
    changed.filter((line) => !Bun.deepEquals(known.get(line.fieldId)?.[key], line[key]))
  const shown = differing('show')
  const [line] = shown.length > 0 ? shown : changed
  if (!line) return label('change_settings_of_view', { view })
  const field = fieldTitle(line.fieldId)
  if (shown.length === 1)
    return label(line.show ? 'show_field_in_view' : 'hide_field_in_view', {
      field,
      view,
    })
  if (shown.length > 1) {
    const n = shown.length
    if (shown.every(({ show }) => show)) return label('show_fields_in_view', { count: n, view })
    if (shown.every(({ show }) => !show)) return label('hide_fields_in_view', { count: n, view })
    return label('show_or_hide_fields_in_view', { count: n, view })
  }
  const n = changed.length
  if (differing('width').length === n) {
    return label('resize_fields_in_view', { count: n, view })
  }
  if (differing('order').length === n) {
    return n === 1 ? label('move_field_in_view', { field, view }) : label('reorder_fields_in_view', { view })
  }
  if (n === 1 && differing('summary').length === 1)
    return label('change_summary_of_field_in_view', { field, view })
  if (n === 1) return label('change_settings_of_field_in_view', { field, view })
  return label('change_settings_of_fields_in_view', { count: n, view })
}
