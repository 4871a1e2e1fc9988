import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Field, Table, View } from '../../../src/core/model.ts'
import type {
  IndexTerm,
  SearchIndexState,
  TableIndex,
  ViewPerformance,
} from '../../../src/core/performance.ts'
import { formatBytes } from '../../attachments/format-bytes.ts'
import { formatAgo } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { api, trpc } from '../../trpc.ts'
import { attempt } from '../../ui/attempt.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { confirm } from '../../ui/confirm.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { QueryError, Skeleton } from '../../ui/states.tsx'
import styles from './performance.module.css'

/** Reading fewer records is fast without an index. */
const FEW_RECORDS = 1_000
/** While an index is built, the list is read again at this interval. */
const REFRESH_MS = 2_000

/** How the views of a table are read, what would speed them up, and the table's indexes. */
export function PerformanceDialog({ table, onClose }: { table: Table; onClose: () => void }) {
  const { id: tableId } = table
  const performance = trpc.indexes.performance.useQuery(
    { tableId },
    {
      refetchInterval: ({ state }) =>
        state.data?.indexes.some((index) => index.state === 'building') ||
        state.data?.search?.state === 'building'
          ? REFRESH_MS
          : false,
    },
  )
  const schema = trpc.schema.table.useQuery({ tableId })
  const utils = trpc.useUtils()
  const refresh = () => utils.indexes.performance.invalidate({ tableId })
  const { data } = performance
  const fields = schema.data?.fields
  return (
    <Dialog title={m.indexes_performance_of_table({ title: table.title })} size="large" onClose={onClose}>
      {performance.error && !data ? (
        <QueryError title={m.indexes_load_failed()} query={performance} />
      ) : !data || !fields ? (
        <Skeleton height={200} />
      ) : (
        <div className={styles.parts}>
          <section aria-labelledby="performance-views">
            <h3 id="performance-views">{m.indexes_views()}</h3>
            <ul className={styles.list}>
              {data.views.map((view) => (
                <ViewPlan
                  key={view.viewId}
                  view={schema.data?.views.find(({ id }) => id === view.viewId)}
                  performance={view}
                  fields={fields}
                  isBuilding={data.indexes.some((index) => index.state === 'building')}
                  onCreate={async (terms) => {
                    await attempt(() => api.indexes.create.mutate({ tableId, terms }))
                    await refresh()
                  }}
                />
              ))}
            </ul>
          </section>
          <section aria-labelledby="performance-indexes">
            <h3 id="performance-indexes">{m.indexes_indexes()}</h3>
            {data.indexes.length === 0 ? (
              <p className={styles.note}>{m.indexes_none_hint()}</p>
            ) : (
              <ul className={styles.list}>
                {data.indexes.map((index) => (
                  <IndexLine
                    key={index.id}
                    index={index}
                    fields={fields}
                    onDrop={async () => {
                      await attempt(() => api.indexes.drop.mutate({ tableId, indexId: index.id }))
                      await refresh()
                    }}
                  />
                ))}
              </ul>
            )}
          </section>
          {data.search && (
            <section aria-labelledby="performance-search">
              <h3 id="performance-search">{m.indexes_search()}</h3>
              <p className={data.search.state === 'failed' ? styles.error : styles.note}>
                {SEARCH_TEXTS[data.search.state]({ percent: Math.floor(data.search.part * 100) })}
              </p>
            </section>
          )}
        </div>
      )}
    </Dialog>
  )
}

const SEARCH_TEXTS: Record<SearchIndexState['state'], (given: { percent: number }) => string> = {
  none: m.indexes_search_none,
  building: m.indexes_search_building,
  ready: m.indexes_search_ready,
  failed: m.indexes_search_failed,
  unavailable: m.indexes_search_unavailable,
}

/** The fields of an index by title: `Status, Due ↓`. */
function termsText(terms: readonly IndexTerm[], fields: readonly Field[]): string {
  const named = terms.flatMap(({ fieldId, direction }) => {
    const field = fields.find(({ id }) => id === fieldId)
    // The table's own order ends every index and says nothing to people.
    return field && !field.isSystem && !field.isPrimaryKey
      ? [direction === 'desc' ? `${field.title} ↓` : field.title]
      : []
  })
  return named.length === 0 ? m.indexes_own_order() : named.join(', ')
}

interface ViewPlanProps {
  /** Undefined while the views are read again. */
  view: View | undefined
  performance: ViewPerformance
  fields: readonly Field[]
  isBuilding: boolean
  onCreate: (terms: IndexTerm[]) => Promise<void>
}

function ViewPlan({ view, performance, fields, isBuilding, onCreate }: ViewPlanProps) {
  const [isBusy, setIsBusy] = useState(false)
  const { reads, returns, sorts, usesIndex, ms } = performance
  const suggestion = reads < FEW_RECORDS ? null : performance.suggestion
  const details = [
    ...(sorts ? [m.indexes_sorts_matches({ count: performance.matches })] : []),
    ...(usesIndex ? [m.indexes_uses_index()] : []),
    m.indexes_took({ ms: Math.max(1, Math.round(ms)) }),
  ]
  async function create(terms: IndexTerm[]) {
    setIsBusy(true)
    await onCreate(terms)
    setIsBusy(false)
  }
  return (
    <li className={styles.line}>
      <div className={styles.text}>
        <strong>{view?.title ?? ''}</strong>
        <span>{m.indexes_reads_to_return({ reads, returns })}</span>
        <span className={styles.note}>{details.join(' · ')}</span>
        {suggestion && (
          <span className={styles.note}>
            {m.indexes_suggestion({ fields: termsText(suggestion, fields) })}
          </span>
        )}
      </div>
      {suggestion && (
        <Button icon={Plus} busy={isBusy} disabled={isBuilding} onClick={() => void create(suggestion)}>
          {m.indexes_create()}
        </Button>
      )}
    </li>
  )
}

interface IndexLineProps {
  index: TableIndex
  fields: readonly Field[]
  onDrop: () => Promise<void>
}

function IndexLine({ index, fields, onDrop }: IndexLineProps) {
  const [isBusy, setIsBusy] = useState(false)
  const name = termsText(index.terms, fields)
  async function drop() {
    const agreed = await confirm({
      title: m.indexes_drop_confirm({ fields: name }),
      text: m.indexes_drop_consequences(),
      confirmLabel: m.indexes_drop(),
      danger: true,
    })
    if (!agreed) return
    setIsBusy(true)
    await onDrop()
    setIsBusy(false)
  }
  const details = [
    index.isAutomatic ? m.indexes_automatic() : m.indexes_created_by_hand(),
    ...(index.state === 'building' ? [m.indexes_building()] : []),
    ...(index.bytes === null ? [] : [formatBytes(index.bytes)]),
    m.indexes_last_used({ when: formatAgo(index.usedAt) }),
  ]
  return (
    <li className={styles.line}>
      <div className={styles.text}>
        <strong>{name}</strong>
        <span className={styles.note}>{details.join(' · ')}</span>
        {index.error !== null && (
          <span className={styles.error}>{m.indexes_failed({ reason: index.error })}</span>
        )}
      </div>
      <IconButton
        icon={Trash2}
        label={m.indexes_drop_index({ fields: name })}
        disabled={isBusy}
        onClick={() => void drop()}
      />
    </li>
  )
}
