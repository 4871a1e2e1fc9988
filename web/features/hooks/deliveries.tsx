import { ChevronDown, ChevronRight, ListChecks, RotateCw } from 'lucide-react'
import { useId, useState } from 'react'
import type { DeliveryStatus, Hook, HookDelivery } from '../../../src/core/hooks.ts'
import { formatAgo, formatNumber, localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { refetchPages } from '../../read-again.ts'
import { api, trpc } from '../../trpc.ts'
import { attempt } from '../../ui/attempt.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { SelectField } from '../../ui/field.tsx'
import { EmptyState, QueryError, Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.ts'
import { Exchange } from './exchange.tsx'
import { useHookNews } from './hook-news.ts'
import styles from './hooks.module.css'
import { OPERATION_LABELS } from './trigger-labels.ts'

const STATUSES = ['waiting', 'delivered', 'dead'] as const satisfies readonly DeliveryStatus[]

export const STATUS_LABELS: Record<DeliveryStatus, () => string> = {
  waiting: m.hooks_status_waiting,
  delivered: m.hooks_status_delivered,
  dead: m.hooks_status_dead,
}

/** The deliveries of a webhook, newest first, to look into and to send again. */
export function Deliveries({ hook }: { hook: Hook }) {
  const [status, setStatus] = useState<DeliveryStatus | ''>('')
  const pages = trpc.hooks.deliveries.useInfiniteQuery(
    { hookId: hook.id, status: status || undefined },
    {
      getNextPageParam: ({ next }) => next ?? undefined,
      staleTime: 0,
      gcTime: 0,
    },
  )
  useHookNews(
    ({ hookId }) => hookId === hook.id,
    () => refetchPages(pages),
  )
  const deliveries = pages.data?.pages.flatMap((page) => page.deliveries)
  const hasDead = deliveries?.some((delivery) => delivery.status === 'dead') ?? false

  async function retry(which: string[] | 'dead') {
    await attempt(async () => {
      const count = await api.hooks.retry.mutate({ hookId: hook.id, deliveries: which })
      toast.success({ text: m.hooks_sent_again_count({ count }) })
    })
    await pages.refetch()
  }

  return (
    <div className={styles.deliveries}>
      <div className={styles.tools}>
        <SelectField
          label={m.hooks_status()}
          value={status}
          onChange={(event) => setStatus(STATUSES.find((one) => one === event.target.value) ?? '')}
        >
          <option value="">{m.hooks_all_deliveries()}</option>
          {STATUSES.map((one) => (
            <option key={one} value={one}>
              {STATUS_LABELS[one]()}
            </option>
          ))}
        </SelectField>
        <span className={styles.grow} />
        <Button icon={RotateCw} busy={pages.isRefetching} onClick={() => void pages.refetch()}>
          {m.hooks_refresh()}
        </Button>
        {hasDead && <Button onClick={() => void retry('dead')}>{m.hooks_retry_all_failed()}</Button>}
      </div>
      {pages.error && !pages.data ? (
        <QueryError title={m.hooks_deliveries_load_failed()} query={pages} />
      ) : deliveries?.length === 0 ? (
        <EmptyState
          icon={ListChecks}
          title={status === '' ? m.hooks_no_deliveries() : m.hooks_no_deliveries_with_status()}
          text={status === '' ? m.hooks_no_deliveries_text() : undefined}
        />
      ) : (
        <ul className={styles.list} aria-busy={pages.isPending} data-testid="hook-deliveries">
          {deliveries?.map((delivery) => (
            <DeliveryRow key={delivery.id} delivery={delivery} onRetry={() => void retry([delivery.id])} />
          )) ?? [1, 2, 3].map((n) => <Skeleton key={n} height={44} />)}
        </ul>
      )}
      {pages.hasNextPage && (
        <Button busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          {m.history_show_older()}
        </Button>
      )}
    </div>
  )
}

function DeliveryRow({ delivery, onRetry }: { delivery: HookDelivery; onRetry: () => void }) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const { status, statusCode, error, attempts, rows, createdAt, dueAt, durationMs, isTest } = delivery
  return (
    <li className={styles.delivery} data-status={status}>
      <div className={styles.deliveryLine}>
        <button
          type="button"
          className={styles.opener}
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? <ChevronDown size={16} /> : <ChevronRight size={16} className="flip-in-rtl" />}
          <span className={styles.status} data-status={status}>
            {statusCode ?? STATUS_LABELS[status]()}
          </span>
          <span>{OPERATION_LABELS[delivery.operation]()}</span>
          {isTest && <span className={styles.note}>{m.hooks_test_call()}</span>}
        </button>
        <span className={styles.facts}>
          <span>{m.hooks_records_count({ count: rows })}</span>
          {attempts > 1 && <span>{m.hooks_attempts_count({ count: attempts })}</span>}
          {durationMs !== null && <span>{m.hooks_duration({ ms: formatNumber(durationMs) })}</span>}
          <time dateTime={createdAt} data-tip={new Date(createdAt).toLocaleString(localeTag())}>
            {formatAgo(createdAt)}
          </time>
        </span>
        {status !== 'waiting' && (
          <IconButton icon={RotateCw} size="small" label={m.hooks_send_again()} onClick={onRetry} />
        )}
      </div>
      {error && !isOpen && <p className={styles.error}>{error.message}</p>}
      {status === 'waiting' && attempts > 0 && dueAt !== null && (
        <p className={styles.note}>
          {m.hooks_next_try({ time: new Date(dueAt).toLocaleTimeString(localeTag()) })}
        </p>
      )}
      {isOpen && (
        <div id={id}>
          <DeliveryDetail delivery={delivery} />
        </div>
      )}
    </li>
  )
}

function DeliveryDetail({ delivery }: { delivery: HookDelivery }) {
  const detail = trpc.hooks.delivery.useQuery(
    { hookId: delivery.hookId, deliveryId: delivery.id },
    { staleTime: 0, gcTime: 0 },
  )
  if (detail.error) return <QueryError title={m.hooks_deliveries_load_failed()} query={detail} />
  if (!detail.data) return <Skeleton height={120} />
  const { request, response, error } = detail.data
  if (!request && !response && !error) return <p className={styles.note}>{m.hooks_not_sent_yet()}</p>
  return <Exchange request={request} response={response} error={error} />
}
