import type { Base } from '../../../src/core/model.ts'
import { roleCan } from '../../../src/core/roles.ts'
import { m } from '../../messages.gen.ts'
import { api, cache, trpc } from '../../trpc.ts'
import { attempt } from '../../ui/attempt.ts'
import { confirm } from '../../ui/confirm.tsx'
import { Skeleton } from '../../ui/states.tsx'
import lists from '../layout/list-screen.module.css'
import styles from './trash.module.css'

const OFFERED_DAYS = [7, 30, 90, 180, 365]

/** How long deleted items of a base are kept; owners choose it. */
export function Retention({ base }: { base: Base }) {
  const baseId = base.id
  const retention = trpc.trash.retention.useQuery({ baseId }, { staleTime: 0 }).data
  if (!retention) return <Skeleton width={220} height={20} />
  const { days, defaultDays, keptDays } = retention
  const text = keptDays === 0 ? m.trash_kept_forever() : m.trash_kept_for_days({ count: keptDays })
  if (!roleCan(base.role, 'base.storage')) return <p className={lists.facts}>{text}</p>

  async function setDays(value: string): Promise<void> {
    const chosen = value === '' ? null : Number(value)
    const next = chosen ?? defaultDays
    const isShorter = next !== 0 && (keptDays === 0 || next < keptDays)
    const agreed =
      !isShorter ||
      (await confirm({
        title: m.trash_keep_for_days_confirm({ count: next }),
        text: m.trash_keep_shorter_consequences(),
        confirmLabel: m.trash_keep_for_days({ count: next }),
        danger: true,
      }))
    if (!agreed) return
    await attempt(() => api.trash.setRetention.mutate({ baseId, days: chosen }))
    await Promise.all([
      cache.trash.retention.invalidate({ baseId }),
      cache.trash.list.invalidate(),
      cache.bases.get.invalidate({ baseId }),
    ])
  }

  const offered = [...new Set([...OFFERED_DAYS, ...(days ? [days] : [])])].sort((a, b) => a - b)
  return (
    <div className={styles.retention}>
      <p className={lists.facts}>{text}</p>
      <select
        className={lists.filter}
        aria-label={m.trash_keep_items_for()}
        value={days ?? ''}
        onChange={(event) => void setDays(event.target.value)}
      >
        <option value="">
          {defaultDays === 0 ? m.trash_default_as_history() : m.trash_default_days({ count: defaultDays })}
        </option>
        {offered.map((each) => (
          <option key={each} value={each}>
            {m.trash_days({ count: each })}
          </option>
        ))}
        <option value="0">{m.trash_as_history()}</option>
      </select>
    </div>
  )
}
