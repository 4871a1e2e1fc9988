import { EyeOff } from 'lucide-react'
import { useState } from 'react'
import {
  type DailyTime,
  DEFAULT_CHANNELS,
  NOTIFICATION_CHANNELS,
  NOTIFICATION_TOPICS,
  type NotificationChannel,
  type NotificationTopic,
  TOPIC_TITLES,
} from '../../../src/core/notifications.ts'
import { messageOf } from '../../errors.ts'
import { localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { hrefOf, paths } from '../../navigation/paths.ts'
import { useSearch } from '../../navigation/router.tsx'
import { timeZone } from '../../time-zone.ts'
import { type Inputs, type Outputs, trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { IconButton } from '../../ui/button.tsx'
import { SelectField } from '../../ui/field.tsx'
import { QueryError, Skeleton } from '../../ui/states.tsx'
import { Switch } from '../../ui/switch.tsx'
import { toggleWatch } from '../watches/watch-commands.ts'
import styles from './notifications.module.css'

const CHANNEL_TITLES: Record<NotificationChannel, () => string> = {
  off: m.notifications_channel_off,
  app: m.notifications_channel_app,
  mail: m.notifications_channel_mail,
  hourly: m.notifications_channel_hourly,
  daily: m.notifications_channel_daily,
}

type Settings = Outputs['notifications']['settings']
type Patch = Inputs['notifications']['setSettings']

/** What one is notified of, in which way, per base; and what one watches. */
export function NotificationsPage() {
  const settings = trpc.notifications.settings.useQuery(undefined, { staleTime: 0 })
  const sendsMail = trpc.app.info.useQuery().data?.sendsMail ?? false
  const utils = trpc.useUtils()
  const save = trpc.notifications.setSettings.useMutation({
    // Shows at once; a refusal is read back.
    onMutate: async (patch) => {
      await utils.notifications.settings.cancel()
      utils.notifications.settings.setData(undefined, (now) => now && withPatch(now, patch))
    },
    onSettled: () => utils.notifications.settings.invalidate(),
  })
  if (settings.error && !settings.data) {
    return <QueryError title={m.notifications_settings_load_failed()} query={settings} />
  }
  if (!settings.data) {
    return (
      <div className={styles.settingsPage} aria-busy="true">
        {NOTIFICATION_TOPICS.map((topic) => (
          <Skeleton key={topic} height={44} />
        ))}
      </div>
    )
  }
  const { channels, watchesOwn, isUnsubscribed, dailyHour, timeZone } = settings.data
  return (
    <div className={styles.settingsPage}>
      {save.error && <Alert tone="error">{messageOf(save.error)}</Alert>}
      <section className={styles.section} aria-label={m.notifications_in_all_bases()}>
        <h3>{m.notifications_in_all_bases()}</h3>
        <Topics
          sendsMail={sendsMail}
          channels={channels}
          onChange={(topic, channel) => save.mutate({ baseId: null, channels: { [topic]: channel } })}
        />
        <Switch
          label={m.notifications_watch_own()}
          hint={m.notifications_watch_own_hint()}
          checked={watchesOwn}
          onChange={(isOn) => save.mutate({ baseId: null, watchesOwn: isOn })}
        />
        {sendsMail && (
          <DailyTimeFields
            dailyHour={dailyHour}
            timeZone={timeZone}
            onChange={(patch) => save.mutate({ baseId: null, ...patch })}
          />
        )}
        {sendsMail ? (
          <Switch
            label={m.notifications_send_mails()}
            hint={m.notifications_send_mails_hint()}
            checked={!isUnsubscribed}
            onChange={(isOn) => save.mutate({ baseId: null, isUnsubscribed: !isOn })}
          />
        ) : (
          <p className={styles.note}>{m.notifications_no_mail_server()}</p>
        )}
      </section>
      <BaseSettings
        settings={settings.data}
        sendsMail={sendsMail}
        onSave={(baseId, patch) => save.mutate({ baseId, ...patch })}
      />
      <WatchList />
    </div>
  )
}

interface DailyTimeProps extends DailyTime {
  onChange: (patch: Partial<DailyTime>) => void
}

/** When daily mails are sent. */
function DailyTimeFields({ dailyHour, timeZone, onChange }: DailyTimeProps) {
  const zones = [...new Set(['UTC', timeZone, ...Intl.supportedValuesOf('timeZone')])]
  const hourText = new Intl.DateTimeFormat(localeTag(), { timeStyle: 'short', timeZone: 'UTC' })
  return (
    <div className={styles.dailyTime}>
      <SelectField
        label={m.notifications_daily_hour()}
        value={dailyHour}
        onChange={({ target }) => onChange({ dailyHour: Number(target.value) })}
      >
        {Array.from({ length: 24 }, (_, hour) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an hour is its index
          <option key={hour} value={hour}>
            {hourText.format(Date.UTC(2000, 0, 1, hour))}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={m.notifications_time_zone()}
        value={timeZone}
        onChange={({ target }) => onChange({ timeZone: target.value })}
      >
        {zones.map((zone) => (
          <option key={zone}>{zone}</option>
        ))}
      </SelectField>
    </div>
  )
}

/** The settings as the server will have them after a change. */
function withPatch(
  now: Settings,
  { baseId, channels = {}, isMuted, browserTimeZone: _, ...patch }: Patch,
): Settings {
  if (baseId === null) {
    const chosen = Object.entries(channels).map(([topic, channel]) => [
      topic,
      channel ?? DEFAULT_CHANNELS[topic as NotificationTopic],
    ])
    const own = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined))
    return { ...now, ...own, channels: { ...now.channels, ...Object.fromEntries(chosen) } }
  }
  const own = now.bases.find((one) => one.baseId === baseId) ?? { baseId, channels: {}, isMuted: false }
  const chosen = Object.entries({ ...own.channels, ...channels }).filter(([, channel]) => channel !== null)
  const changed = {
    baseId,
    channels: Object.fromEntries(chosen) as typeof own.channels,
    isMuted: isMuted ?? own.isMuted,
  }
  return { ...now, bases: [...now.bases.filter((one) => one.baseId !== baseId), changed] }
}

interface TopicsProps {
  sendsMail: boolean
  channels: Partial<Record<NotificationTopic, NotificationChannel>>
  /** The channels that topics without one follow; absent where each topic has one. */
  general?: Record<NotificationTopic, NotificationChannel>
  disabled?: boolean
  /** Null: follows the general channel. */
  onChange: (topic: NotificationTopic, channel: NotificationChannel | null) => void
}

function Topics({ sendsMail, channels, general, disabled = false, onChange }: TopicsProps) {
  // Without a mail server, those who chose mails see what they get.
  const shownOf = (channel: NotificationChannel): NotificationChannel =>
    sendsMail || channel === 'off' ? channel : 'app'
  return (
    <ul className={styles.topics}>
      {NOTIFICATION_TOPICS.map((topic) => {
        const chosen = channels[topic]
        const offered = NOTIFICATION_CHANNELS.filter((channel) => sendsMail || shownOf(channel) === channel)
        return (
          <li key={topic} className={styles.topic}>
            <span>{TOPIC_TITLES[topic]()}</span>
            <select
              aria-label={TOPIC_TITLES[topic]()}
              value={chosen === undefined ? '' : shownOf(chosen)}
              disabled={disabled}
              onChange={({ target }) => onChange(topic, (target.value || null) as NotificationChannel | null)}
            >
              {general && (
                <option value="">
                  {m.notifications_channel_general({ channel: CHANNEL_TITLES[shownOf(general[topic])]() })}
                </option>
              )}
              {offered.map((channel) => (
                <option key={channel} value={channel}>
                  {CHANNEL_TITLES[channel]()}
                </option>
              ))}
            </select>
          </li>
        )
      })}
    </ul>
  )
}

interface BaseSettingsProps {
  settings: Settings
  sendsMail: boolean
  onSave: (
    baseId: string,
    patch: { isMuted?: boolean; channels?: Partial<Record<NotificationTopic, NotificationChannel | null>> },
  ) => void
}

/** The settings of one base, which go before those for all bases. */
function BaseSettings({ settings, sendsMail, onSave }: BaseSettingsProps) {
  const { baseId: asked } = useSearch()
  const bases = trpc.bases.list.useQuery({}).data ?? []
  const [chosen, setChosen] = useState(asked ?? '')
  const base = bases.find(({ id }) => id === chosen)
  const own = settings.bases.find(({ baseId }) => baseId === base?.id)
  return (
    <section className={styles.section} aria-label={m.notifications_in_one_base()}>
      <h3>{m.notifications_in_one_base()}</h3>
      <SelectField
        label={m.common_base()}
        value={base?.id ?? ''}
        onChange={({ target }) => setChosen(target.value)}
      >
        <option value="">{m.notifications_choose_base()}</option>
        {bases.map(({ id, title }) => (
          <option key={id} value={id}>
            {title}
          </option>
        ))}
      </SelectField>
      {base && (
        <>
          <Switch
            label={m.notifications_mute_base()}
            hint={m.notifications_mute_base_hint()}
            checked={own?.isMuted ?? false}
            onChange={(isMuted) => onSave(base.id, { isMuted })}
          />
          <Topics
            sendsMail={sendsMail}
            channels={own?.channels ?? {}}
            general={settings.channels}
            disabled={own?.isMuted ?? false}
            onChange={(topic, channel) => onSave(base.id, { channels: { [topic]: channel } })}
          />
        </>
      )}
    </section>
  )
}

/** The records and views that one watches. */
function WatchList() {
  const watches = trpc.notifications.watches.useQuery({ timeZone }, { staleTime: 0 })
  return (
    <section className={styles.section} aria-label={m.watches_watched()}>
      <h3>{m.watches_watched()}</h3>
      {watches.error && !watches.data ? (
        <QueryError title={m.watches_load_failed()} query={watches} />
      ) : watches.isPending ? (
        <Skeleton height={44} />
      ) : watches.data?.length === 0 ? (
        <p className={styles.note}>{m.watches_none()}</p>
      ) : (
        <ul>
          {watches.data?.map(({ baseId, tableId, kind, targetId, baseTitle, tableTitle, title }) => {
            const isView = kind === 'view'
            const path = isView
              ? paths.table(baseId, tableId, targetId)
              : `${paths.table(baseId, tableId)}?rowId=${encodeURIComponent(targetId)}`
            return (
              <li key={`${tableId} ${targetId}`} className={styles.watch}>
                <a href={hrefOf(path)} dir="auto">
                  {m.watches_place({
                    title: title || m.common_record_id({ id: targetId }),
                    table: tableTitle,
                    base: baseTitle,
                  })}
                </a>
                <IconButton
                  icon={EyeOff}
                  size="small"
                  label={isView ? m.watches_stop_watching_view() : m.watches_stop_watching_record()}
                  onClick={() =>
                    void toggleWatch(isView ? { tableId, viewId: targetId } : { tableId, recordId: targetId })
                  }
                />
              </li>
            )
          })}
        </ul>
      )}
    </section>
  )
}
