import { createStore } from 'zustand/vanilla'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import { isSingleLink, type LinkOptions, linkOf } from '../../../../src/core/fields/link-options.ts'
import { type LinkedRecord, readLinks, writeLinks } from '../../../../src/core/fields/list-value.ts'
import type { Field, RecordId } from '../../../../src/core/model.ts'
import type { LinkLine, LinkTarget } from '../../../cells/cell.ts'
import { linksIn, linkValue, titleOf } from '../../../cells/link-value.ts'
import { messageOf } from '../../../errors.ts'
import { m } from '../../../messages.gen.ts'
import { goTo, paths } from '../../../navigation/paths.ts'
import { recordsApi } from '../../../records/api.ts'
import { runInQueue } from '../../../records/base-queue.ts'
import { visitor } from '../../../session/visitor.ts'
import { matches } from '../../../ui/matches.ts'
import { toast } from '../../../ui/toast.ts'
import { can, type GetContext, type TableContext } from '../context/table-context.ts'
import { nameValue, readLinkLines, relatedTable } from './link-reads.ts'

/** Storage of a cell's links: on the server, in an unsaved record, or in a form. */
interface Holder extends Pick<LinkTarget, 'current' | 'subscribe'> {
  /** Null for a record that the server does not know. */
  recordId(): RecordId | null
  /** False when the server refused. */
  change(kind: 'link' | 'unlink', record: LinkedRecord, actionId?: string): Promise<boolean>
}

/** Link target of a cell in the record store; null for other fields. */
export function linkTarget(get: GetContext, field: Field, recordId: RecordId): LinkTarget | null {
  const { store } = get()
  const options = linkOf(field)
  if (options === null || field.error !== null) return null
  // A shared view grants no access to other tables; only the names in the cell are known.
  if (visitor.link()?.kind === 'view') return null
  const { tableId, id: fieldId } = field
  const current = (): CellValue => store.row(recordId)?.values(fieldId) ?? null
  const savedId = (): RecordId | null => {
    const id = store.realId(recordId)
    return store.isSaved(id) ? id : null
  }
  return targetOf(get(), field, options, {
    current,
    subscribe: (onChange) => store.onRow(recordId, onChange),
    recordId: savedId,
    async change(kind, record, actionId) {
      const id = savedId()
      const after = changed(options, current(), kind, record)
      // An unsaved record sends its links when it is created.
      if (id === null) {
        void store.writeRows([{ id: store.realId(recordId), values: { [fieldId]: after } }])
        return true
      }
      const operation = { kind, tableId, fieldId, id, targets: [record.id] }
      return (await store.link(operation, after, actionId)) !== null
    },
  })
}

/** A link target without a record, e.g. the value of a bulk edit. */
export function looseLinkTarget(
  context: TableContext,
  field: Field,
  held: { value: CellValue; onChange: (value: CellValue) => void },
): LinkTarget | null {
  const options = linkOf(field)
  if (options === null || field.error !== null) return null
  const value = createStore(() => held.value)
  return targetOf(context, field, options, {
    current: value.getState,
    subscribe: value.subscribe,
    recordId: () => null,
    async change(kind, record) {
      const next = changed(options, value.getState(), kind, record)
      held.onChange(next)
      value.setState(next, true)
      return true
    },
  })
}

/** The cell's value after one link is added or removed. */
function changed(
  options: LinkOptions,
  value: CellValue,
  kind: 'link' | 'unlink',
  { id, title }: LinkedRecord,
): CellValue {
  const { count, records } = readLinks(value)
  const others = records.filter((one) => one.id !== id)
  if (kind === 'unlink') {
    const left = { count: Math.max(others.length, count - 1), records: others }
    return left.count === 0 ? null : writeLinks(left)
  }
  if (isSingleLink(options)) return linkValue([{ id, title }])
  const isNew = others.length === records.length
  return writeLinks({ count: count + (isNew ? 1 : 0), records: [...others, { id, title }] })
}

function targetOf(context: TableContext, field: Field, options: LinkOptions, holder: Holder): LinkTarget {
  const { baseId } = context.schema.table
  const { relatedTableId } = options
  const place = { tableId: field.tableId, fieldId: field.id }
  return {
    isSingle: isSingleLink(options),
    singular: options.singular || m.common_record_noun(),
    plural: options.plural || m.common_records_noun(),
    canWrite: can(context, 'record.update') && field.readOnlyReason === null,
    current: holder.current,
    subscribe: holder.subscribe,

    async read(which, page, signal) {
      const recordId = holder.recordId()
      if (recordId !== null) return readLinkLines({ ...place, recordId }, which, page, signal)
      // The links exist only in this page so far.
      const { records } = linksIn(holder.current())
      if (which === 'linked') return { lines: localLines(records, page), hasMore: false, mayCreate: false }
      const found = await readLinkLines({ ...place, recordId }, which, page, signal)
      const ids = new Set(records.map((record) => record.id))
      return { ...found, lines: found.lines.filter((line) => !ids.has(line.id)) }
    },

    link: (record) => holder.change('link', record),
    unlink: (record) => holder.change('unlink', record),

    async create(title) {
      try {
        const display = (await relatedTable(relatedTableId)).fields.find((one) => one.isDisplay)
        const value = display ? nameValue(display, title) : null
        if (!display || value === null) return null
        // Creating and linking are one undo step.
        const actionId = crypto.randomUUID()
        const rows = [{ values: { [display.id]: value } }]
        const change = {
          baseId,
          operations: [{ kind: 'insert' as const, tableId: relatedTableId, rows }],
          clientId: crypto.randomUUID(),
        }
        const { inserted } = await runInQueue(baseId, () => recordsApi.apply(change, actionId))
        const [id] = inserted
        if (id === undefined) return null
        void holder.change('link', { id, title }, actionId)
        return { id, title }
      } catch (error) {
        toast.error({ text: messageOf(error) })
        return null
      }
    },

    open: ({ id }) => goTo(`${paths.table(baseId, relatedTableId)}?rowId=${encodeURIComponent(String(id))}`),
  }
}

/** Picker options from the cell's own records, filtered and paged. */
const localLines = (
  records: readonly LinkedRecord[],
  { search, offset }: { search: string; offset: number },
): LinkLine[] =>
  records
    .map(({ id, title }) => ({ id, title, name: titleOf({ id, title }), details: [] }))
    .filter(({ name }) => matches(name, search))
    .slice(offset)
