import { useState } from 'react'
import type { Base } from '../../../src/core/model.ts'
import { messageOf } from '../../errors.ts'
import { formatAgo, localeTag, t, tn } from '../../i18n.ts'
import { api, trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/confirm.tsx'
import { SelectField } from '../../ui/field.tsx'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.ts'
import { formatBytes } from './format-bytes.ts'
import styles from './storage.module.css'

const OFFERED_DAYS = [7, 30, 90, 180, 365, 730]
const POLL_MS = 500

/** The room that a base takes, how long it keeps what was deleted, and giving unused room back. For owners. */
export function StoragePanel({ base }: { base: Base }) {
  const storage = trpc.storage.base.useQuery({ baseId: base.id })
  const utils = trpc.useUtils()
  const [isBusy, setIsBusy] = useState(false)
  const { data } = storage
  if (storage.error && !data)
    return (
      <ErrorState
        title={t('The base size could not be loaded')}
        error={storage.error}
        onRetry={() => void storage.refetch()}
      />
    )
  if (!data) return <Skeleton height={120} />

  async function setDays(value: string) {
    const days = value === '' ? null : Number(value)
    const kept = days ?? data?.defaultDays ?? 0
    const isShorter = kept !== 0 && (data?.entries ?? 0) > 0
    const agreed =
      !isShorter ||
      (await confirm({
        title: t('Keep history and trash for {days}?', { days: daysText(kept) }),
        text: t(
          'Older changes and deleted records, tables and fields are removed permanently within a day. They can no longer be undone or restored.',
        ),
        confirmLabel: t('Keep for {days}', { days: daysText(kept) }),
      }))
    if (!agreed) return
    try {
      await api.storage.setHistoryDays.mutate({ baseId: base.id, days })
    } catch (error) {
      toast.error({ text: messageOf(error) })
    }
    await utils.storage.base.invalidate({ baseId: base.id })
  }

  async function reclaim() {
    setIsBusy(true)
    try {
      const { jobId } = await api.storage.reclaim.mutate({ baseId: base.id })
      const result = await finished(jobId)
      const saved = formatBytes(Math.max(0, result.before - result.after))
      toast.success({ text: t('{saved} reclaimed', { saved }) })
    } catch (error) {
      toast.error({ text: messageOf(error) })
    }
    setIsBusy(false)
    await utils.storage.base.invalidate({ baseId: base.id })
  }

  const days = [...new Set([...OFFERED_DAYS, ...(data.historyDays ? [data.historyDays] : [])])].sort(
    (a, b) => a - b,
  )
  const day = (time: string) => new Date(time).toLocaleDateString(localeTag())
  return (
    <div role="tabpanel" aria-label={t('Storage')} className={styles.panel}>
      <dl className={styles.facts}>
        <dt>{t('Size')}</dt>
        <dd>
          {formatBytes(data.bytes)}
          {data.freeBytes !== null && data.freeBytes > 0 && (
            <> ({t('{size} of it unused', { size: formatBytes(data.freeBytes) })})</>
          )}
        </dd>
        <dt>{t('Change log')}</dt>
        <dd>
          {tn('1 change', '{n} changes', data.entries)}
          {data.oldest && <> · {t('oldest {when}', { when: formatAgo(data.oldest) })}</>}
        </dd>
        {data.historySince && (
          <>
            <dt>{t('Removed')}</dt>
            <dd>{t('Everything before {day}', { day: day(data.historySince) })}</dd>
          </>
        )}
      </dl>
      <SelectField
        label={t('Keep history and trash for')}
        help={t('Within this time, changes can be undone and deleted records, tables and fields restored.')}
        value={data.historyDays === null ? '' : String(data.historyDays)}
        onChange={(event) => void setDays(event.target.value)}
      >
        <option value="">{t('Server default ({days})', { days: daysText(data.defaultDays) })}</option>
        {days.map((each) => (
          <option key={each} value={each}>
            {daysText(each)}
          </option>
        ))}
        <option value="0">{daysText(0)}</option>
      </SelectField>
      <div>
        <Button busy={isBusy} onClick={() => void reclaim()}>
          {t('Reclaim space')}
        </Button>
        <p className={styles.note}>
          {t(
            'Removes expired history and trash and returns unused space to the disk. Others can keep reading; their edits wait until it’s done.',
          )}
        </p>
      </div>
    </div>
  )
}

const daysText = (days: number): string => (days === 0 ? t('Forever') : tn('1 day', '{n} days', days))

/** What the job has saved. @throws Error with its reason where it failed */
async function finished(jobId: string): Promise<{ before: number; after: number }> {
  for (;;) {
    const job = await api.jobs.get.query({ jobId })
    if (job.status === 'completed') return job.result as { before: number; after: number }
    if (job.status === 'failed' || job.status === 'cancelled')
      throw new Error(job.error ?? t('The space could not be reclaimed'))
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
