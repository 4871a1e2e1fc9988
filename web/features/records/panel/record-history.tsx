import { keepPreviousData } from '@tanstack/react-query'
import { ArrowRight, RotateCcw } from 'lucide-react'
import { useState } from 'react'
import type { CellValue } from '../../../../src/core/fields/field-type.ts'
import { type LinkOptions, linkOf } from '../../../../src/core/fields/link-options.ts'
import type { Field, Person, RecordId } from '../../../../src/core/model.ts'
import { CELLS, shownText } from '../../../cells/index.ts'
import { formatAgo, localeTag } from '../../../i18n.ts'
import { m } from '../../../messages.gen.ts'
import { timeZone } from '../../../time-zone.ts'
import { type Outputs, trpc } from '../../../trpc.ts'
import { Avatar } from '../../../ui/avatar.tsx'
import { Button, IconButton } from '../../../ui/button.tsx'
import { QueryError, Skeleton } from '../../../ui/states.tsx'
import { can, fieldOf, isWritable, type TableContext } from '../context/table-context.ts'
import styles from './record-panel.module.css'

type Entry = Outputs['records']['history']['entries'][number]

/** Page size; a shorter page is the last. */
const PAGE = 50

/** History of a record: author, time, changed values, and a button that restores a value. */
export function RecordHistory({ context, recordId }: { context: TableContext; recordId: RecordId }) {
  const tableId = context.schema.table.id
  const [before, setBefore] = useState<number | undefined>(undefined)
  const [older, setOlder] = useState<Entry[]>([])
  const history = trpc.records.history.useQuery({ tableId, recordId, before }, { staleTime: 0 })
  if (history.error) {
    return <QueryError title={m.records_history_load_failed()} query={history} />
  }
  const page = history.data?.entries ?? []
  const entries = [...older, ...page]
  const people = new Map(
    [...context.people, ...(history.data?.people ?? [])].map((person) => [person.id, person]),
  )
  const last = page.at(-1)
  return (
    <div className={styles.body} aria-busy={history.isPending || undefined}>
      {history.isPending && older.length === 0 && <Skeleton height={60} />}
      {!history.isPending && entries.length === 0 && (
        <p className={styles.gone}>{m.records_no_changes_yet()}</p>
      )}
      <ol className={styles.history}>
        {entries.map((entry) => (
          <HistoryEntry key={entry.id} entry={entry} people={people} context={context} recordId={recordId} />
        ))}
      </ol>
      {page.length === PAGE && last && (
        <Button
          size="small"
          onClick={() => {
            setOlder(entries)
            setBefore(last.id)
          }}
        >
          {m.records_show_older()}
        </Button>
      )}
    </div>
  )
}

interface HistoryEntryProps {
  entry: Entry
  people: ReadonlyMap<string, Person>
  context: TableContext
  recordId: RecordId
}

function HistoryEntry({ entry, people, context, recordId }: HistoryEntryProps) {
  const person = entry.actorId ? people.get(entry.actorId) : undefined
  const at = new Date(entry.at)
  return (
    <li className={styles.entry} data-testid="history-entry">
      {person ? <Avatar person={person} size={24} /> : <span className={styles.nobody} />}
      <div className={styles.story}>
        <p>
          <strong dir="auto">{person ? person.displayName || person.email : m.records_someone()}</strong>{' '}
          {kindText(entry.kind)}{' '}
          <time dateTime={entry.at} className={styles.when} data-tip={at.toLocaleString(localeTag())}>
            {formatAgo(entry.at)}
          </time>
        </p>
        {entry.changes.map((change) => {
          const field = fieldOf(context, change.fieldId)
          if (!field || (change.before === null && change.after === null)) return null
          if (linkOf(field)) return <LinkChange key={change.fieldId} field={field} value={change.after} />
          return (
            <div key={change.fieldId} className={styles.change}>
              <span className={styles.changed} dir="auto">
                {field.title}
              </span>
              <Value field={field} value={change.before} isOld />
              <ArrowRight size={12} className="flip-in-rtl" aria-label={m.records_changed_to()} />
              <Value field={field} value={change.after} />
              {can(context, 'record.update') && isWritable(field) && (
                <IconButton
                  icon={RotateCcw}
                  size="small"
                  iconSize={13}
                  label={m.records_restore_previous_value_of_field({ field: field.title })}
                  onClick={() =>
                    void context.store.writeRows([{ id: recordId, values: { [field.id]: change.before } }])
                  }
                />
              )}
            </div>
          )
        })}
      </div>
    </li>
  )
}

function Value({ field, value, isOld = false }: { field: Field; value: CellValue; isOld?: boolean }) {
  const { View, type } = CELLS[field.type]
  if (value === null || value === '') return <span className={styles.nothing}>{m.common_empty()}</span>
  const options = type.options.safeParse(field.options)
  return (
    <span className={styles.value} data-old={isOld || undefined}>
      <View
        value={value}
        field={field}
        options={options.success ? options.data : type.options.parse({})}
        variant="grid"
        lines={2}
        width={null}
      />
    </span>
  )
}

function kindText(kind: string): string {
  switch (kind) {
    case 'records.insert':
      return m.records_created_the_record()
    case 'records.import':
      return m.records_imported_the_record()
    case 'records.delete':
      return m.records_deleted_the_record()
    case 'records.move':
      return m.records_moved_the_record()
    case 'undo':
      return m.records_undid_a_change()
    case 'redo':
      return m.records_redid_a_change()
    default:
      return m.records_changed()
  }
}

/** Maximum names; further records are counted. */
const MAX_NAMED = 20

interface Delta {
  linked: RecordId[]
  unlinked: RecordId[]
}

/** Describes a change of links: "linked Hobbit", "unlinked Dune and 3 more". */
function LinkChange({ field, value }: { field: Field; value: CellValue }) {
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
  return new Intl.ListFormat(undefined, { type: 'conjunction' }).format(all)
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
