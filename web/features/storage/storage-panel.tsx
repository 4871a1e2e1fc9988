import { useState } from 'react'
import type { Base } from '../../../src/core/model.ts'
import { formatBytes } from '../../attachments/format-bytes.ts'
import { formatAgo, localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { api, trpc } from '../../trpc.ts'
import { attempt } from '../../ui/attempt.ts'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/confirm.tsx'
import { SelectField } from '../../ui/field.tsx'
import { QueryError, Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.ts'
import { followJob } from '../sources/jobs.ts'
import styles from './storage.module.css'

const OFFERED_DAYS = [7, 30, 90, 180, 365, 730]

/** Size, retention and reclaimable space of a base, for owners. */
export function StoragePanel({ base }: { base: Base }) {
  const storage = trpc.storage.base.useQuery({ baseId: base.id })
  const utils = trpc.useUtils()
  const [isBusy, setIsBusy] = useState(false)
  const { data } = storage
  if (storage.error && !data) return <QueryError title={m.storage_base_size_load_failed()} query={storage} />
  if (!data) return <Skeleton height={120} />

  async function setDays(value: string) {
    const days = value === '' ? null : Number(value)
    const kept = days ?? data?.defaultDays ?? 0
    const isShorter = kept !== 0 && (data?.entries ?? 0) > 0
    const agreed =
      !isShorter ||
      (await confirm({
        title: m.storage_keep_history_for_confirm({ days: daysText(kept) }),
        text: m.storage_keep_history_shorter_consequences(),
        confirmLabel: m.storage_keep_for_days({ days: daysText(kept) }),
      }))
    if (!agreed) return
    await attempt(() => api.storage.setHistoryDays.mutate({ baseId: base.id, days }))
    await utils.storage.base.invalidate({ baseId: base.id })
  }

  async function reclaim() {
    setIsBusy(true)
    await attempt(async () => {
      const { jobId } = await api.storage.reclaim.mutate({ baseId: base.id })
      const job = await followJob(jobId)
      if (!job) return
      const { before, after } = job.result as { before: number; after: number }
      const saved = formatBytes(Math.max(0, before - after))
      toast.success({ text: m.storage_space_reclaimed({ saved }) })
    })
    setIsBusy(false)
    await utils.storage.base.invalidate({ baseId: base.id })
  }

  const days = [...new Set([...OFFERED_DAYS, ...(data.historyDays ? [data.historyDays] : [])])].sort(
    (a, b) => a - b,
  )
  const day = (time: string) => new Date(time).toLocaleDateString(localeTag())
  return (
    <div className={styles.panel}>
      <dl className={styles.facts}>
        <dt>{m.common_size()}</dt>
        <dd>
          {formatBytes(data.bytes)}
          {data.freeBytes !== null && data.freeBytes > 0 && (
            <> ({m.storage_size_unused({ size: formatBytes(data.freeBytes) })})</>
          )}
        </dd>
        <dt>{m.storage_change_log()}</dt>
        <dd>
          {m.storage_changes_count({ count: data.entries })}
          {data.oldest && <> · {m.storage_oldest_when({ when: formatAgo(data.oldest) })}</>}
        </dd>
        {data.historySince && (
          <>
            <dt>{m.storage_removed()}</dt>
            <dd>{m.storage_everything_before_day({ day: day(data.historySince) })}</dd>
          </>
        )}
      </dl>
      <SelectField
        label={m.storage_keep_history_for()}
        help={m.storage_keep_history_hint()}
        value={data.historyDays === null ? '' : String(data.historyDays)}
        onChange={(event) => void setDays(event.target.value)}
      >
        <option value="">{m.storage_server_default_days({ days: daysText(data.defaultDays) })}</option>
        {days.map((each) => (
          <option key={each} value={each}>
            {daysText(each)}
          </option>
        ))}
        <option value="0">{daysText(0)}</option>
      </SelectField>
      <div>
        <Button busy={isBusy} onClick={() => void reclaim()}>
          {m.storage_reclaim_space()}
        </Button>
        <p className={styles.note}>{m.storage_reclaim_space_hint()}</p>
      </div>
    </div>
  )
}

const daysText = (days: number): string =>
  days === 0 ? m.storage_forever() : m.storage_days_count({ count: days })
