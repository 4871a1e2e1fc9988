import { keepPreviousData } from '@tanstack/react-query'
import { type CellValue, completeOptions } from '../../../../src/core/fields/field-type.ts'
import { type LinkOptions, linkOf } from '../../../../src/core/fields/link-options.ts'
import type { Field, RecordId } from '../../../../src/core/model.ts'
import { CELLS, shownText } from '../../../cells/index.ts'
import { listNames } from '../../../i18n.ts'
import { m } from '../../../messages.gen.ts'
import { timeZone } from '../../../time-zone.ts'
import { trpc } from '../../../trpc.ts'
import styles from './record-panel.module.css'

/** A value as the history shows it. */
export function Value({ field, value, isOld = false }: { field: Field; value: CellValue; isOld?: boolean }) {
  const { View, type } = CELLS[field.type]
  if (value === null || value === '') return <span className={styles.nothing}>{m.common_empty()}</span>
  return (
    <span className={styles.value} data-old={isOld || undefined}>
      <View
        value={value}
        field={field}
        options={completeOptions(type, field.options)}
        variant="grid"
        lines={2}
        width={null}
      />
    </span>
  )
}

/** Maximum names; further records are counted. */
const MAX_NAMED = 20

interface Delta {
  linked: RecordId[]
  unlinked: RecordId[]
}

/** Describes a change of links: "linked Hobbit", "unlinked Dune and 3 more". */
export function LinkChange({ field, value }: { field: Field; value: CellValue }) {
  const link = linkOf(field)
  const delta = readDelta(value)
  if (!link || !delta) return null
  return <Words field={field} link={link} delta={delta} />
}

function Words({ field, link, delta }: { field: Field; link: LinkOptions; delta: Delta }) {
  const ids = [...delta.linked.slice(0, MAX_NAMED), ...delta.unlinked.slice(0, MAX_NAMED)]
  const tableId = link.relatedTableId
  const related = trpc.schema.table.useQuery({ tableId }, { staleTime: 60_000 })
  const display = related.data?.fields.find((one) => one.isDisplay)
  const names = trpc.records.list.useQuery(
    {
      query: {
        tableId,
        recordIds: ids,
        timeZone,
        limit: 2 * MAX_NAMED,
        offset: 0,
        fieldIds: display ? [display.id] : [],
      },
    },
    { enabled: display !== undefined && ids.length > 0, placeholderData: keepPreviousData },
  )
  const titles = new Map<string, string>()
  for (const [at, id] of (names.data?.ids ?? []).entries()) {
    const title = display ? shownText(display, names.data?.rows[at]?.[0] ?? null) : ''
    titles.set(String(id), title)
  }
  const nameOf = (id: RecordId) => titles.get(String(id)) || m.common_record_id({ id: String(id) })
  return (
    <div className={styles.change} data-testid="link-change">
      <span className={styles.changed} dir="auto">
        {field.title}
      </span>
      {delta.linked.length > 0 && (
        <span className={styles.value} dir="auto">
          {m.records_linked_records({ records: listed(delta.linked.map(nameOf)) })}
        </span>
      )}
      {delta.unlinked.length > 0 && (
        <span className={styles.value} dir="auto">
          {m.records_unlinked_records({ records: listed(delta.unlinked.map(nameOf)) })}
        </span>
      )}
    </div>
  )
}

function listed(names: string[]): string {
  const shown = names.slice(0, MAX_NAMED)
  const rest = names.length - shown.length
  const all = rest > 0 ? [...shown, m.records_more_count({ count: rest })] : shown
  return listNames(all)
}

function readDelta(value: CellValue): Delta | null {
  if (typeof value !== 'string' || !value.startsWith('{')) return null
  try {
    const read: unknown = JSON.parse(value)
    if (typeof read !== 'object' || read === null) return null
    const ids = (list: unknown): RecordId[] =>
      Array.isArray(list) ? list.filter((id) => typeof id === 'number' || typeof id === 'string') : []
    return {
      linked: ids('linked' in read ? read.linked : null),
      unlinked: ids('unlinked' in read ? read.unlinked : null),
    }
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}
