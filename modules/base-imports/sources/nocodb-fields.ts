import type { FieldOptions } from '../../../src/core/fields/field-type.ts'
import { type FieldTypeName, fieldType, isFieldTypeName } from '../../../src/core/fields/index.ts'
import { parseJsonOrNull } from '../../../src/core/json-text.ts'
import { m } from '../../../src/messages.gen.ts'
import type { Candidate, ComputedPlan, SourceCell, SourceField } from '../source.ts'
import type { NocoColumn, NocoTable } from './nocodb-types.ts'
import { personId, storedPlan } from './value-types.ts'

type Meta = Record<string, unknown>

const DURATIONS = ['h:mm', 'h:mm:ss', 'h:mm:ss.s', 'h:mm:ss.ss', 'h:mm:ss.sss']

/** A setting of a column if it has the right type. */
const given = (key: string, value: unknown, type: 'string' | 'number' | 'boolean'): FieldOptions =>
  typeof value === type ? { [key]: value } : {}

const instant = (meta: Meta): FieldOptions => ({
  ...given('format', meta.date_format, 'string'),
  time12h: meta.is12hrFormat === true,
  seconds: String(meta.time_format ?? '').includes('ss'),
  timeZone: 'local',
})

/** Options by NocoDB's names of types, which are also ours. */
const OPTIONS: Record<string, (meta: Meta, column: NocoColumn) => FieldOptions> = {
  LongText: ({ richMode }) => ({ rich: richMode === true }),
  Number: ({ isLocaleString }) => ({ thousands: isLocaleString === true }),
  Decimal: ({ precision, isLocaleString }) => ({
    ...given('precision', precision, 'number'),
    thousands: isLocaleString === true,
  }),
  Currency: ({ currency_locale, currency_code, precision }) => ({
    ...given('locale', currency_locale, 'string'),
    ...given('code', currency_code, 'string'),
    ...given('precision', precision, 'number'),
  }),
  Percent: ({ is_progress, precision }) => ({
    bar: is_progress === true,
    ...given('precision', precision, 'number'),
  }),
  Date: ({ date_format }) => given('format', date_format, 'string'),
  DateTime: instant,
  Rating: ({ max }) => given('max', max, 'number'),
  Duration: ({ duration }) => ({ format: DURATIONS[Number(duration ?? 0)] ?? 'h:mm' }),
  SingleSelect: (_meta, column) => choicesOf(column),
  MultiSelect: (_meta, column) => choicesOf(column),
  User: ({ is_multi }) => ({ multiple: is_multi === true }),
  Attachment: () => ({ maxCount: 100 }),
}

function choicesOf({ colOptions }: NocoColumn): FieldOptions {
  const options = Array.isArray(colOptions?.options) ? (colOptions.options as Meta[]) : []
  return {
    choices: options.flatMap(({ title, color }) =>
      typeof title === 'string' && title.trim() !== ''
        ? [{ title: title.trim(), ...given('color', color, 'string') }]
        : [],
    ),
  }
}

export function metaOf({ meta }: Pick<NocoColumn, 'meta'>): Meta {
  const value = typeof meta === 'string' ? parseJsonOrNull(meta) : meta
  return typeof value === 'object' && value !== null ? (value as Meta) : {}
}

const idIn = (column: NocoColumn, key: string): string | null => {
  const value = column.colOptions?.[key]
  return typeof value === 'string' && value !== '' ? value : null
}

/** True for columns of which a table here has its own, and for the storage of links. Keys of connected databases are values. */
export const isInternal = (column: NocoColumn): boolean =>
  Boolean(column.system) || ['ForeignKey', 'Order', 'ID'].some((type) => type === column.uidt)

const LINKS = new Set(['Links', 'LinkToAnotherRecord'])
export const isLinkColumn = (column: NocoColumn): boolean => LINKS.has(column.uidt)

const linkKind = (column: NocoColumn): 'mm' | 'hm' | 'bt' | 'oo' | null => {
  const kind = column.colOptions?.type
  return kind === 'mm' || kind === 'hm' || kind === 'bt' || kind === 'oo' ? kind : null
}

/** The other side of a link. */
function inverseOf(
  table: NocoTable,
  column: NocoColumn,
  tables: ReadonlyMap<string, NocoTable>,
): NocoColumn | null {
  const related = tables.get(idIn(column, 'fk_related_model_id') ?? '')
  const isOther = (other: NocoColumn) => {
    if (other.id === column.id || !isLinkColumn(other) || other.system) return false
    if (idIn(other, 'fk_related_model_id') !== table.id) return false
    const junction = idIn(column, 'fk_mm_model_id')
    if (junction !== null) return idIn(other, 'fk_mm_model_id') === junction
    return (
      idIn(other, 'fk_child_column_id') === idIn(column, 'fk_child_column_id') &&
      idIn(other, 'fk_parent_column_id') === idIn(column, 'fk_parent_column_id')
    )
  }
  return related?.columns.find(isOther) ?? null
}

/**
 * True for the side from which links are written: the one that holds the key, or of two equal sides the one with the smaller
 * id.
 */
export function isFirstSide(
  table: NocoTable,
  column: NocoColumn,
  tables: ReadonlyMap<string, NocoTable>,
): boolean {
  const kind = linkKind(column)
  const inverse = inverseOf(table, column, tables)
  if (!inverse || kind === 'bt') return true
  return kind !== 'hm' && column.id < inverse.id
}

/** A column in the terms of an import. */
export function toField(
  table: NocoTable,
  column: NocoColumn,
  tables: ReadonlyMap<string, NocoTable>,
): SourceField {
  return {
    id: column.id,
    title: column.title,
    description: column.description ?? null,
    plan: planOf(table, column, tables),
  }
}

function planOf(
  table: NocoTable,
  column: NocoColumn,
  tables: ReadonlyMap<string, NocoTable>,
): SourceField['plan'] {
  if (isLinkColumn(column)) {
    const tableId = idIn(column, 'fk_related_model_id')
    const kind = linkKind(column)
    if (tableId === null || kind === null || !tables.has(tableId))
      return { as: 'skipped', reason: m.base_imports_reason_link_target() }
    return {
      as: 'link',
      kind,
      tableId,
      inverseFieldId: inverseOf(table, column, tables)?.id ?? null,
      isSecondSide: !isFirstSide(table, column, tables),
    }
  }
  const computed = COMPUTED[column.uidt]?.(column)
  if (computed) return computed
  if (!isFieldTypeName(column.uidt)) return storedPlan(undefined, column.uidt)
  const { computed: kind, internal, systemColumn, readOnly } = fieldType(column.uidt)
  if (kind || internal || systemColumn || readOnly) return storedPlan(undefined, column.uidt)
  return { as: 'stored', type: column.uidt, options: OPTIONS[column.uidt]?.(metaOf(column), column) ?? {} }
}

const asText = (value: unknown): SourceCell => {
  if (value === null || value === undefined) return null
  if (Array.isArray(value))
    return (
      value
        .map((one) => String(asText(one) ?? ''))
        .filter(Boolean)
        .join(', ') || null
    )
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const plainText: ComputedPlan['plain'] = { type: 'LongText', options: {}, cell: asText }
const plainNumber: ComputedPlan['plain'] = {
  type: 'Decimal',
  options: { precision: null },
  cell: (value) => (typeof value === 'number' || typeof value === 'string' ? Number(value) : null),
}

const one = (
  group: ComputedPlan['group'],
  candidate: Candidate,
  dependsOn: (string | null)[],
  more: Partial<ComputedPlan> = {},
): ComputedPlan => ({
  as: 'computed',
  group,
  candidates: [candidate],
  dependsOn: dependsOn.filter((id) => id !== null),
  plain: plainText,
  ...more,
})

/** Computed columns by NocoDB's names of types. */
const COMPUTED: Record<string, (column: NocoColumn) => ComputedPlan> = {
  Lookup(column) {
    const relation = idIn(column, 'fk_relation_column_id')
    const target = idIn(column, 'fk_lookup_column_id')
    const options: Candidate['options'] = (idOf) => ({
      relationFieldId: idOf(relation ?? ''),
      targetFieldId: idOf(target ?? ''),
    })
    return one('lookups', { type: 'Lookup', options }, [relation, target])
  },
  Rollup(column) {
    const relation = idIn(column, 'fk_relation_column_id')
    const target = idIn(column, 'fk_rollup_column_id')
    const name = column.colOptions?.rollup_function
    const { precision } = metaOf(column)
    const options: Candidate['options'] = (idOf) => ({
      relationFieldId: idOf(relation ?? ''),
      targetFieldId: idOf(target ?? ''),
      function: name,
      ...given('precision', precision, 'number'),
    })
    return one('rollups', { type: 'Rollup', options }, [relation, target], {
      plain: plainNumber,
      emptyIsZero: true,
    })
  },
  Formula(column) {
    const formula = String(column.colOptions?.formula ?? '')
    const ids = [...formula.matchAll(/\{\{(\w{1,60})\}\}/g)].map(([, id = '']) => id)
    const display = displayOf(metaOf(column))
    const options: Candidate['options'] = (idOf) => ({
      formula: formula.replace(/\{\{(\w{1,60})\}\}/g, (_, id: string) => `{{${idOf(id)}}}`),
      ...(display && { display }),
    })
    const withoutDisplay: Candidate['options'] = (idOf) => ({ ...options(idOf), display: null })
    return one('formulas', { type: 'Formula', options }, ids, {
      candidates: [
        { type: 'Formula', options },
        { type: 'Formula', options: withoutDisplay },
      ],
      readsClock: /\b(?:NOW|TODAY|FROMNOW)\s{0,9}\(/i.test(formula),
    })
  },
  QrCode: (column) => codeOf(column, 'QrCode', 'fk_qr_value_column_id'),
  Barcode: (column) => codeOf(column, 'Barcode', 'fk_barcode_value_column_id'),
  CreatedTime: (column) =>
    one('formulas', { type: 'CreatedTime', options: () => instant(metaOf(column)) }, [], {
      plain: { type: 'DateTime', options: instant(metaOf(column)), cell: asText },
    }),
  LastModifiedTime: (column) =>
    keptAs(column, { type: 'DateTime', options: instant(metaOf(column)), cell: asText }),
  CreatedBy: (column) => keptAs(column, plainText),
  LastModifiedBy: (column) => keptAs(column, plainText),
  AutoNumber: (column) => keptAs(column, plainNumber),
}

/** A field that keeps its values and computes no more. */
const keptAs = (_column: NocoColumn, plain: ComputedPlan['plain']): ComputedPlan => ({
  as: 'computed',
  group: 'formulas',
  candidates: [],
  dependsOn: [],
  plain,
  problem: m.base_imports_note_last_modified(),
})

function codeOf(column: NocoColumn, type: FieldTypeName, key: string): ComputedPlan {
  const value = idIn(column, key)
  const options: Candidate['options'] = (idOf) => ({ valueFieldId: idOf(value ?? '') })
  return one('formulas', { type, options }, [value], {
    notCompared: m.base_imports_note_not_compared(),
  })
}

/** How a formula's result is shown. */
function displayOf({
  display_type,
  display_column_meta,
}: Meta): { type: FieldTypeName; options: FieldOptions } | null {
  if (!isFieldTypeName(display_type)) return null
  const meta = (display_column_meta as { meta?: Meta } | null)?.meta ?? {}
  return {
    type: display_type,
    options: OPTIONS[display_type]?.(meta, { colOptions: null } as NocoColumn) ?? {},
  }
}

/** The cell of a stored column. */
export function cellOf(column: NocoColumn, value: unknown, addressOf: (path: string) => string): SourceCell {
  if (value === null || value === undefined || value === '') return null
  const { storage, people, holdsFiles } = fieldType(column.uidt)
  if (people) return peopleIn(value)
  if (holdsFiles) return filesIn(value, addressOf)
  if (storage === 'boolean') return value === true || value === 1 || value === '1' || value === 'true'
  return typeof value === 'object' ? JSON.stringify(value) : (value as SourceCell)
}

function peopleIn(value: unknown): SourceCell {
  const list = (Array.isArray(value) ? value : [value]) as (string | Meta | null)[]
  const people = list.flatMap((person) => {
    if (typeof person === 'string')
      return person.split(',').map((email) => ({ id: null, email: email.trim(), name: null }))
    const { id, email, display_name: name } = person ?? {}
    return typeof email === 'string'
      ? [{ id: personId(id), email, name: typeof name === 'string' ? name : null }]
      : []
  })
  return people.length === 0 ? null : { people }
}

function filesIn(value: unknown, addressOf: (path: string) => string): SourceCell {
  const list = typeof value === 'string' ? parseJsonOrNull(value) : value
  if (!Array.isArray(list)) return null
  const files = (list as Meta[]).flatMap(({ path, url, signedPath, signedUrl, title, size }) => {
    const place = [signedUrl, signedPath, url, path].find((one) => typeof one === 'string' && one !== '')
    const id = [path, url].find((one) => typeof one === 'string' && one !== '')
    if (typeof place !== 'string' || typeof id !== 'string') return []
    return [
      {
        id,
        url: addressOf(place),
        name: String(title ?? 'file'),
        size: typeof size === 'number' ? size : null,
      },
    ]
  })
  return files.length === 0 ? null : { files }
}
