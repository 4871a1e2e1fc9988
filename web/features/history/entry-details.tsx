import { ArrowRight } from 'lucide-react'
import { useState } from 'react'
import { linkOf } from '../../../src/core/fields/link-options.ts'
import type { Field } from '../../../src/core/model.ts'
import { m } from '../../messages.gen.ts'
import { hrefOf, paths } from '../../navigation/paths.ts'
import { timeZone } from '../../time-zone.ts'
import { type Outputs, trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { QueryError, Skeleton } from '../../ui/states.tsx'
import lists from '../layout/list-screen.module.css'
import { LinkChange, Value } from '../records/panel/changed-value.tsx'
import styles from './history.module.css'

type EntryRecord = Outputs['activity']['entry']['records'][number]

/** Records per page. */
const PAGE = 20

/** The records that an entry touched, with their values before and after. */
export function EntryDetails({ baseId, entryId }: { baseId: string; entryId: number }) {
  const [tableId, setTableId] = useState<string | undefined>(undefined)
  const pages = trpc.activity.entry.useInfiniteQuery(
    { baseId, entryId, tableId, limit: PAGE, timeZone },
    { getNextPageParam: ({ next }) => next ?? undefined },
  )
  const [first] = pages.data?.pages ?? []
  const shown = first?.tables.find((table) => table.tableId === tableId) ?? first?.tables[0]
  const schema = trpc.schema.table.useQuery(
    { tableId: shown?.tableId ?? '' },
    { enabled: shown !== undefined, staleTime: 60_000 },
  )
  if (pages.error && !pages.data) return <QueryError title={m.history_details_load_failed()} query={pages} />
  if (!first) return <Skeleton height={48} />
  if (!shown) return <p className={styles.hint}>{m.history_no_records()}</p>
  const fields = new Map(schema.data?.fields.map((field) => [field.id, field]))
  const records = pages.data?.pages.flatMap((page) => page.records) ?? []
  return (
    <div className={styles.details} data-testid="entry-details">
      {first.tables.length > 1 && (
        <select
          className={lists.filter}
          aria-label={m.common_table()}
          value={shown.tableId}
          onChange={(event) => setTableId(event.target.value)}
        >
          {first.tables.map((table) => (
            <option key={table.tableId} value={table.tableId}>
              {table.title}
            </option>
          ))}
        </select>
      )}
      <ul>
        {records.map((record) => (
          <RecordLine
            key={record.recordId}
            href={hrefOf(
              `${paths.table(baseId, shown.tableId)}?rowId=${encodeURIComponent(record.recordId)}`,
            )}
            record={record}
            fields={fields}
          />
        ))}
      </ul>
      {pages.hasNextPage && (
        <Button size="small" busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          {m.history_more_records()}
        </Button>
      )}
    </div>
  )
}

function RecordLine(props: { href: string; record: EntryRecord; fields: ReadonlyMap<string, Field> }) {
  const { href, record, fields } = props
  const title = record.title || m.common_record_id({ id: String(record.recordId) })
  return (
    <li className={styles.detail}>
      <p>
        {record.exists ? (
          <a href={href} dir="auto">
            {title}
          </a>
        ) : (
          <bdi>{title}</bdi>
        )}{' '}
        <span className={styles.hint}>{didText(record.did)}</span>
      </p>
      {record.changes.map(({ fieldId, before, after }) => {
        const field = fields.get(fieldId)
        if (!field || (before === null && after === null)) return null
        if (linkOf(field)) return <LinkChange key={fieldId} field={field} value={after} />
        return (
          <div key={fieldId} className={styles.change}>
            <span className={styles.hint} dir="auto">
              {field.title}
            </span>
            {record.did !== 'added' && <Value field={field} value={before} isOld />}
            {record.did === 'changed' && (
              <ArrowRight size={12} className="flip-in-rtl" aria-label={m.records_changed_to()} />
            )}
            {record.did !== 'deleted' && <Value field={field} value={after} />}
          </div>
        )
      })}
    </li>
  )
}

function didText(did: EntryRecord['did']): string {
  if (did === 'added') return m.history_did_added()
  return did === 'deleted' ? m.history_did_deleted() : m.history_did_changed()
}
