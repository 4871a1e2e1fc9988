import { Gauge, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { Field, Table, View } from '../../../src/core/model.ts'
import type {
  IndexTerm,
  SearchIndexState,
  TableIndex,
  UnindexedReason,
  ViewMeasurement,
  ViewPerformance,
} from '../../../src/core/performance.ts'
import { formatBytes } from '../../attachments/format-bytes.ts'
import { appCodeOf } from '../../errors.ts'
import { formatAgo } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { api, trpc } from '../../trpc.ts'
import { attempt } from '../../ui/attempt.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { confirm } from '../../ui/confirm.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { useOnChange } from '../../ui/effects.ts'
import { QueryError, Skeleton } from '../../ui/states.tsx'
import styles from './performance.module.css'

/** Reading fewer records is fast without an index. */
const FEW_RECORDS = 1_000
/** While an index is built, the list is read again at this interval. */
const REFRESH_MS = 2_000

/** How the views of a table are read, what would speed them up, and the table's indexes. */
export function PerformanceDialog({ table, onClose }: { table: Table; onClose: () => void }) {
  const { id: tableId } = table
  // Never from an earlier visit: views, filters and records change meanwhile.
  const performance = trpc.indexes.performance.useQuery(
    { tableId },
    {
      staleTime: 0,
      gcTime: 0,
      refetchInterval: ({ state }) => (state.data?.search?.state === 'building' ? REFRESH_MS : false),
    },
  )
  const list = trpc.indexes.list.useQuery(
    { tableId },
    {
      staleTime: 0,
      gcTime: 0,
      refetchInterval: ({ state }) => (state.data?.some(isBeingBuilt) ? REFRESH_MS : false),
    },
  )
  const schema = trpc.schema.table.useQuery({ tableId })
  async function refresh() {
    // In this order: an index that the list shows as finished is in the plans, too.
    await list.refetch()
    await performance.refetch()
  }
  const { data } = performance
  const indexes = list.data ?? data?.indexes
  const isBuilding = indexes?.some(isBeingBuilt) ?? false
  // A finished index, or a changed view or field, is read in another way.
  useOnChange([isBuilding, schema.data], () => {
    if (data && !isBuilding) void performance.refetch()
  })
  const fields = schema.data?.fields
  const failed = [performance, schema].find(
    // What was read of a deleted table says nothing any more.
    (query) => query.error && (!query.data || appCodeOf(query.error) === 'TABLE_NOT_FOUND'),
  )
  return (
    <Dialog title={m.indexes_performance_of_table({ title: table.title })} size="large" onClose={onClose}>
      {failed ? (
        <QueryError title={m.indexes_load_failed()} query={failed} />
      ) : !data || !fields || !indexes ? (
        <Skeleton height={200} />
      ) : (
        <div className={styles.parts}>
          <section aria-labelledby="performance-views">
            <h3 id="performance-views">{m.indexes_views()}</h3>
            <ul className={styles.list}>
              {data.views.flatMap((plan) => {
                const view = schema.data?.views.find(({ id }) => id === plan.viewId)
                if (!view) return []
                return (
                  <ViewPlan
                    key={view.id}
                    view={view}
                    performance={plan}
                    fields={fields}
                    isBuilding={isBuilding}
                    onCreate={async (terms) => {
                      await attempt(() => api.indexes.create.mutate({ tableId, terms }))
                      await refresh()
                    }}
                  />
                )
              })}
            </ul>
          </section>
          <section aria-labelledby="performance-indexes">
            <h3 id="performance-indexes">{m.indexes_indexes()}</h3>
            {indexes.length === 0 ? (
              <p className={styles.note}>{m.indexes_none_hint()}</p>
            ) : (
              <ul className={styles.list}>
                {indexes.map((index) => (
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

const UNINDEXED_TEXTS: Record<UnindexedReason, (given: { field: string }) => string> = {
  time: m.indexes_unindexed_time,
  zone: m.indexes_unindexed_zone,
  otherRecords: m.indexes_unindexed_other_records,
  expression: m.indexes_unindexed_expression,
  length: m.indexes_unindexed_length,
}

const isBeingBuilt = ({ state }: TableIndex): boolean => state === 'building'

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
  view: View
  performance: ViewPerformance
  fields: readonly Field[]
  isBuilding: boolean
  onCreate: (terms: IndexTerm[]) => Promise<void>
}

function ViewPlan({ view, performance, fields, isBuilding, onCreate }: ViewPlanProps) {
  const [isBusy, setIsBusy] = useState(false)
  const [isMeasuring, setIsMeasuring] = useState(false)
  const [measured, setMeasured] = useState<ViewMeasurement | null>(null)
  // What was measured holds for the plan of that moment.
  useOnChange([performance], () => setMeasured(null))
  const { reads, returns, matches, sorts, usesIndex, usesSearchIndex } = measured ?? performance
  const isFast = reads !== null && reads < FEW_RECORDS
  const isKnown = performance.suggestion?.every((term) => fields.some(({ id }) => id === term.fieldId))
  const suggestion = isFast || !isKnown ? null : performance.suggestion
  const unindexed = isFast
    ? []
    : performance.unindexed.flatMap(({ fieldId, reason }) => {
        const field = fields.find(({ id }) => id === fieldId)
        return field ? [UNINDEXED_TEXTS[reason]({ field: field.title })] : []
      })
  const details = [
    ...(sorts && matches !== null ? [m.indexes_sorts_matches({ count: matches })] : []),
    ...(usesIndex ? [m.indexes_uses_index()] : []),
    ...(usesSearchIndex ? [m.indexes_uses_search_index()] : []),
    ...(measured ? [m.indexes_took({ ms: Math.max(1, Math.round(measured.ms)) })] : []),
  ]
  async function measure() {
    setIsMeasuring(true)
    const request = { tableId: view.tableId, viewId: view.id }
    await attempt(async () => setMeasured(await api.indexes.measure.query(request)))
    setIsMeasuring(false)
  }
  async function create(terms: IndexTerm[]) {
    setIsBusy(true)
    await onCreate(terms)
    setIsBusy(false)
  }
  return (
    <li className={styles.line}>
      <div className={styles.text}>
        <strong>{view.title}</strong>
        <span>
          {reads === null || returns === null
            ? m.indexes_not_counted()
            : m.indexes_reads_to_return({ reads, returns })}
        </span>
        {details.length > 0 && <span className={styles.note}>{details.join(' · ')}</span>}
        {performance.suggestsSearchIndex && !isFast && (
          <span className={styles.note}>{m.indexes_suggestion_search()}</span>
        )}
        {suggestion && (
          <span className={styles.note}>
            {m.indexes_suggestion({ fields: termsText(suggestion, fields) })}
          </span>
        )}
        {unindexed.map((text) => (
          <span key={text} className={styles.note}>
            {text}
          </span>
        ))}
      </div>
      <Button
        icon={Gauge}
        variant="ghost"
        busy={isMeasuring}
        aria-label={m.indexes_measure_view({ view: view.title })}
        onClick={() => void measure()}
      >
        {m.indexes_measure()}
      </Button>
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
