import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { CircleAlert, CircleCheck, HardDrive } from 'lucide-react'
import type { ReactNode } from 'react'
import * as z from 'zod/mini'
import { formatBytes } from '../../attachments/format-bytes.ts'
import { m } from '../../messages.gen.ts'
import { hrefOf, paths } from '../../navigation/paths.ts'
import { callRest } from '../../rest.ts'
import { trpc } from '../../trpc.ts'
import { showError } from '../../ui/attempt.ts'
import { EmptyState, QueryError, Skeleton } from '../../ui/states.tsx'
import { Switch } from '../../ui/switch.tsx'
import styles from './account.module.css'

const AppSettings = z.object({ invite_only_signup: z.optional(z.boolean()) })

const PATH = '/api/v1/app-settings'
const KEY = ['rest', PATH]

/** Server settings for super admins. */
export function SettingsPage() {
  const queries = useQueryClient()
  const utils = trpc.useUtils()
  const settings = useQuery({
    queryKey: KEY,
    queryFn: async () => AppSettings.parse(await callRest('GET', PATH)),
  })
  const setup = trpc.app.setup.useQuery()
  const save = useMutation({
    mutationFn: (isInviteOnly: boolean) => callRest('POST', PATH, { invite_only_signup: isInviteOnly }),
    // One after the other: the last choice counts.
    scope: { id: PATH },
    onError: (error) => showError(error),
    async onSettled() {
      await Promise.all([queries.invalidateQueries({ queryKey: KEY }), utils.app.info.invalidate()])
    },
  })
  if (settings.error && !settings.data)
    return <QueryError title={m.account_settings_load_failed()} query={settings} />
  if (!settings.data || setup.isPending) return <Skeleton height={56} />
  const isFixed = setup.data?.inviteOnlySignup === true
  const isChosen = save.isPending ? save.variables : settings.data.invite_only_signup === true
  return (
    <div className={styles.form}>
      <Switch
        label={m.account_invite_only_sign_up()}
        hint={isFixed ? m.account_invite_only_environment_hint() : m.account_invite_only_hint()}
        checked={isFixed || isChosen}
        disabled={isFixed}
        onChange={(checked) => save.mutate(checked)}
      />
      <ServerSetup />
    </div>
  )
}

/** Read-only overview of what only environment variables configure: public URL and database. */
function ServerSetup() {
  const setup = trpc.app.setup.useQuery()
  if (setup.error && !setup.data)
    return <QueryError title={m.account_server_setup_load_failed()} query={setup} />
  if (!setup.data) return <Skeleton height={160} />
  const { database, publicUrl } = setup.data
  return (
    <>
      <p className={styles.note}>{m.account_environment_hint()}</p>
      <Part title={m.account_public_address()} isSet={publicUrl !== null}>
        {publicUrl === null ? (
          <p className={styles.note}>{m.account_no_public_url_hint()}</p>
        ) : (
          <Facts facts={[[m.account_address(), publicUrl]]} />
        )}
      </Part>
      <Part title={m.account_database()} isSet>
        <p className={styles.note}>
          {database === 'postgres' ? m.account_database_postgres() : m.account_database_sqlite()}
        </p>
      </Part>
    </>
  )
}

function Part({ title, isSet, children }: { title: string; isSet: boolean; children: ReactNode }) {
  const Icon = isSet ? CircleCheck : CircleAlert
  return (
    <section className={styles.setup}>
      <h3 className={styles.setupTitle}>
        {title}
        <span className={styles.setupState} data-set={isSet}>
          <Icon size={14} aria-hidden />
          {isSet ? m.account_configured() : m.account_not_configured()}
        </span>
      </h3>
      {children}
    </section>
  )
}

function Facts({ facts }: { facts: [string, string | null][] }) {
  return (
    <dl className={styles.facts}>
      {facts
        .filter(([, value]) => value !== null)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd dir="ltr">{value}</dd>
          </div>
        ))}
    </dl>
  )
}

/** Size of every base, largest first. */
export function StoragePage() {
  const bases = trpc.storage.bases.useQuery()
  if (bases.error && !bases.data)
    return <QueryError title={m.account_base_sizes_load_failed()} query={bases} />
  if (!bases.data) return <Skeleton height={120} />
  if (bases.data.length === 0) return <EmptyState icon={HardDrive} title={m.account_no_bases_yet()} />
  return (
    <div className={styles.form}>
      <p className={styles.note}>{m.account_base_sizes_hint()}</p>
      <table className={styles.sizes}>
        <thead>
          <tr>
            <th scope="col">{m.common_base()}</th>
            <th scope="col">{m.common_size()}</th>
          </tr>
        </thead>
        <tbody>
          {bases.data.map(({ id, title, bytes }) => (
            <tr key={id}>
              <td>
                <a href={hrefOf(paths.base(id))} dir="auto">
                  {title}
                </a>
              </td>
              <td>{bytes === null ? m.account_cannot_be_read() : formatBytes(bytes)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
