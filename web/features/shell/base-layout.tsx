import { Outlet } from '@tanstack/react-router'
import { DatabaseZap } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { appCodeOf } from '../../errors.ts'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { session } from '../../session/index.ts'
import { forgetPlace, rememberPlace } from '../../session/last-places.ts'
import { isMissing, trpc } from '../../trpc.ts'
import { Button } from '../../ui/button.tsx'
import { EmptyState, ErrorState } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.ts'
import { useBaseTheme } from '../layout/theme.ts'
import { useOpenPlace } from './use-place.ts'

/** Any screen inside a base: shown once the base is there, with a way home where it is not. */
export function BaseLayout() {
  const { baseId = '', tableId, viewId } = useOpenPlace()
  const base = trpc.bases.get.useQuery({ baseId })
  useBaseTheme(base.data?.meta)
  const title = useRef<string | null>(null)
  const code = appCodeOf(base.error)
  // To those whose role is "no access" the server says the same as to strangers, also with a token that is good.
  const isTurnedAway = code === 'AUTHENTICATION_REQUIRED' && session.status() === 'signedIn'
  const missing = isMissing(base.error) || isTurnedAway
  // The base is there, and not for them.
  const isGuest = missing && !code?.endsWith('NOT_FOUND')
  // Somebody deleted the base, or the person's right to it: the tables are the first to say so.
  const tablesAreMissing = isMissing(trpc.schema.tables.useQuery({ baseId }).error)

  useEffect(() => {
    if (base.data && !missing) rememberPlace({ baseId, tableId, viewId })
  }, [base.data, missing, baseId, tableId, viewId])

  useEffect(() => {
    if (base.data) title.current = base.data.title
  }, [base.data])

  const { refetch } = base
  useEffect(() => {
    if (tablesAreMissing) void refetch()
  }, [tablesAreMissing, refetch])

  useEffect(() => {
    if (!missing) return
    forgetPlace({ baseId })
    // It was here a moment ago: somebody deleted it, or took the right away.
    const wasHere = title.current !== null
    if (!wasHere && !isGuest) return
    toast.error({
      text: wasHere
        ? m.shell_no_longer_access_title({ title: title.current ?? '' })
        : m.shell_dont_permission_open_base(), // spec §8
    })
    goTo(paths.bases(), { replace: true })
  }, [missing, isGuest, baseId])

  if (isGuest) return null
  if (missing) {
    return (
      <EmptyState
        icon={DatabaseZap}
        title={m.shell_this_base_cant_be_opened()}
        text={m.shell_base_missing_hint()}
      >
        <Button variant="primary" onClick={() => goTo(paths.bases())}>
          {m.common_go_to_your_bases()}
        </Button>
      </EmptyState>
    )
  }
  if (base.error && !base.data) {
    return (
      <ErrorState title={m.shell_base_load_failed()} error={base.error} onRetry={() => void base.refetch()}>
        <Button onClick={() => goTo(paths.bases())}>{m.common_go_to_your_bases()}</Button>
      </ErrorState>
    )
  }
  return <Outlet />
}
