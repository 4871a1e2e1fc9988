import { useState } from 'react'
import { localeTag } from '../../i18n.ts'
import { m } from '../../messages.gen.ts'
import { timeZone } from '../../time-zone.ts'
import { type Outputs, trpc } from '../../trpc.ts'
import { Alert } from '../../ui/alert.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { DialogButtons } from '../../ui/dialog-buttons.tsx'
import { PasswordField, SelectField, TextField } from '../../ui/field.tsx'
import { Dialog } from '../../ui/overlays.ts'
import { toast } from '../../ui/toast.ts'
import { useSubmit } from '../../ui/use-submit.ts'
import styles from './backups-page.module.css'

type Settings = NonNullable<Outputs['backups']['overview']['settings']>

const FIRST: Settings = {
  url: '',
  endpoint: null,
  region: null,
  accessKeyId: null,
  hasSecretAccessKey: false,
  isEncrypted: false,
  frequency: 'daily',
  time: '03:00',
  weekday: 0,
  timeZone,
  retention: { last: 7, daily: 14, weekly: 8, monthly: 12 },
  withBucketFiles: true,
  test: 'always',
}

const FREQUENCIES: Record<Settings['frequency'], () => string> = {
  off: m.backups_frequency_off,
  hourly: m.backups_frequency_hourly,
  daily: m.backups_frequency_daily,
  weekly: m.backups_frequency_weekly,
}

const TESTS: Record<Settings['test'], () => string> = {
  always: m.backups_test_always,
  weekly: m.backups_test_weekly,
  never: m.backups_test_never,
}

const RETENTION: { key: keyof Settings['retention']; label: () => string }[] = [
  { key: 'last', label: m.backups_keep_last },
  { key: 'daily', label: m.backups_keep_daily },
  { key: 'weekly', label: m.backups_keep_weekly },
  { key: 'monthly', label: m.backups_keep_monthly },
]

/** 2024-01-07 was a Sunday. */
const weekdayName = (weekday: number): string =>
  new Date(Date.UTC(2024, 0, 7 + weekday)).toLocaleDateString(localeTag(), {
    weekday: 'long',
    timeZone: 'UTC',
  })

/** Where, when and how backups are made. Stored secrets stay while their fields are empty. */
export function SettingsDialog({
  settings: known,
  onClose,
}: {
  settings: Settings | null
  onClose: () => void
}) {
  const [settings, setSettings] = useState(known ?? FIRST)
  const [secretAccessKey, setSecretAccessKey] = useState('')
  const [passphrase, setPassphrase] = useState('')
  const utils = trpc.useUtils()
  const save = trpc.backups.save.useMutation()
  const change = (patch: Partial<Settings>) => {
    setSettings((before) => ({ ...before, ...patch }))
    setProblem(null)
  }
  const { problem, setProblem, isBusy, submit } = useSubmit(
    async () => {
      const { hasSecretAccessKey, isEncrypted, ...input } = settings
      await save.mutateAsync({
        ...input,
        ...(secretAccessKey !== '' && { secretAccessKey }),
        ...(passphrase !== '' && { passphrase }),
      })
      // The dialog would open with the settings before, and save them again.
      await utils.backups.overview.invalidate()
    },
    () => {
      toast.success({ text: m.backups_saved() })
      onClose()
      void utils.backups.list.invalidate()
    },
  )
  const isBucket = settings.url.trim().startsWith('s3:')
  // The secrets of another place are not kept.
  const isSamePlace = known?.url === settings.url.trim() && known.endpoint === settings.endpoint
  const { frequency, weekday, retention } = settings
  return (
    <Dialog
      title={m.backups_settings()}
      closesOutside={false}
      onClose={onClose}
      onSubmit={submit}
      footer={<DialogButtons label={m.common_save()} busy={isBusy} onClose={onClose} />}
    >
      <div className={styles.form}>
        <TextField
          label={m.backups_place()}
          help={m.backups_place_hint()}
          dir="ltr"
          required
          spellCheck={false}
          maxLength={1_000}
          value={settings.url}
          onChange={(event) => change({ url: event.target.value })}
        />
        {isBucket && (
          <>
            {(['endpoint', 'region', 'accessKeyId'] as const).map((key) => (
              <TextField
                key={key}
                label={BUCKET_LABELS[key]()}
                dir="ltr"
                spellCheck={false}
                value={settings[key] ?? ''}
                onChange={(event) => change({ [key]: event.target.value === '' ? null : event.target.value })}
              />
            ))}
            <PasswordField
              label={m.backups_secret_access_key()}
              autoComplete="new-password"
              help={isSamePlace && settings.hasSecretAccessKey ? m.backups_secret_kept() : undefined}
              value={secretAccessKey}
              onChange={(event) => setSecretAccessKey(event.target.value)}
            />
          </>
        )}
        <PasswordField
          label={m.backups_passphrase()}
          autoComplete="new-password"
          help={isSamePlace && settings.isEncrypted ? m.backups_secret_kept() : m.backups_passphrase_hint()}
          minLength={16}
          value={passphrase}
          onChange={(event) => setPassphrase(event.target.value)}
        />
        <div className={styles.row}>
          <SelectField
            label={m.backups_schedule()}
            value={frequency}
            onChange={(event) => change({ frequency: event.target.value as Settings['frequency'] })}
          >
            {Object.entries(FREQUENCIES).map(([value, label]) => (
              <option key={value} value={value}>
                {label()}
              </option>
            ))}
          </SelectField>
          {frequency === 'weekly' && (
            <SelectField
              label={m.backups_weekday()}
              value={weekday}
              onChange={(event) => change({ weekday: Number(event.target.value) })}
            >
              {[1, 2, 3, 4, 5, 6, 0].map((day) => (
                <option key={day} value={day}>
                  {weekdayName(day)}
                </option>
              ))}
            </SelectField>
          )}
          {frequency !== 'off' && (
            <TextField
              label={m.backups_at_time()}
              type="time"
              required
              help={
                frequency !== 'hourly'
                  ? settings.timeZone
                  : settings.time !== '' && m.backups_hourly_hint({ minute: settings.time.slice(-2) })
              }
              value={settings.time}
              onChange={(event) => change({ time: event.target.value })}
            />
          )}
        </div>
        <fieldset className={styles.retention}>
          <legend>{m.backups_retention()}</legend>
          <div className={styles.row}>
            {RETENTION.map(({ key, label }) => (
              <TextField
                key={key}
                label={label()}
                type="number"
                min={0}
                max={9_999}
                required
                value={String(retention[key])}
                onChange={(event) =>
                  change({ retention: { ...retention, [key]: Math.trunc(Number(event.target.value)) } })
                }
              />
            ))}
          </div>
          <p className={styles.note}>{m.backups_retention_hint()}</p>
        </fieldset>
        <Checkbox
          label={m.backups_bucket_files()}
          help={m.backups_bucket_files_hint()}
          checked={settings.withBucketFiles}
          onChange={(withBucketFiles) => change({ withBucketFiles })}
        />
        <SelectField
          label={m.backups_restore_test()}
          help={m.backups_restore_test_hint()}
          value={settings.test}
          onChange={(event) => change({ test: event.target.value as Settings['test'] })}
        >
          {Object.entries(TESTS).map(([value, label]) => (
            <option key={value} value={value}>
              {label()}
            </option>
          ))}
        </SelectField>
        {problem !== null && <Alert tone="error">{problem}</Alert>}
      </div>
    </Dialog>
  )
}

const BUCKET_LABELS = {
  endpoint: m.backups_endpoint,
  region: m.backups_region,
  accessKeyId: m.backups_access_key_id,
}
