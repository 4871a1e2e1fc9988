import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { z } from 'zod'
import { messageOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { callRest } from '../../rest.ts'
import { trpc } from '../../trpc.ts'
import { ErrorState, Skeleton } from '../../ui/states.tsx'
import { Switch } from '../../ui/switch.tsx'
import { toast } from '../../ui/toast.ts'
import styles from './account.module.css'
import { ServerSetup } from './server-setup.tsx'

const AppSettings = z.object({ invite_only_signup: z.boolean().optional() })

const PATH = '/api/v1/app-settings'
const KEY = ['rest', PATH]

/** What super admins set for the whole server. */
export function SettingsPage() {
  const queries = useQueryClient()
  const utils = trpc.useUtils()
  const settings = useQuery({
    queryKey: KEY,
    queryFn: async () => AppSettings.parse(await callRest('GET', PATH)),
  })
  const save = useMutation({
    mutationFn: (isInviteOnly: boolean) => callRest('POST', PATH, { invite_only_signup: isInviteOnly }),
    onError: (error) => toast.error({ text: messageOf(error) }),
    async onSettled() {
      await Promise.all([queries.invalidateQueries({ queryKey: KEY }), utils.app.info.invalidate()])
    },
  })
  if (settings.error && !settings.data)
    return (
      <ErrorState
        title={m.account_settings_load_failed()}
        error={settings.error}
        onRetry={() => void settings.refetch()}
      />
    )
  if (!settings.data) return <Skeleton height={56} />
  const isInviteOnly = save.isPending ? save.variables : settings.data.invite_only_signup === true
  return (
    <div className={styles.form}>
      <Switch
        label={m.account_invite_only_sign_up()}
        hint={m.account_invite_only_hint()}
        checked={isInviteOnly}
        disabled={save.isPending}
        onChange={(checked) => save.mutate(checked)}
      />
      <ServerSetup />
    </div>
  )
}
