import { type ReactNode, useCallback, useEffect, useState } from 'react'
import type { OpenedShare, ShareKind } from '../../../../src/core/shares.ts'
import { DEFAULT_THEME } from '../../../../src/core/theme.ts'
import { appCodeOf, messageOf } from '../../../errors.ts'
import { m } from '../../../messages.gen.ts'
import { visitor } from '../../../session/visitor.ts'
import { api, queryClient } from '../../../trpc.ts'
import { Main } from '../../../ui/main.tsx'
import { ErrorState } from '../../../ui/states.tsx'
import { Logo } from '../../layout/logo.tsx'
import { TableSkeleton } from '../../layout/table-skeleton.tsx'
import { applyTheme } from '../../layout/theme.ts'
import styles from './public-share.module.css'
import { ClosedPage, PasswordPage } from './share-pages.tsx'

interface ShareGateProps {
  kind: ShareKind
  linkId: string
  children: (opened: OpenedShare) => ReactNode
}

type State =
  | { step: 'opening' }
  | { step: 'password'; problem: string | null }
  | { step: 'closed' }
  | { step: 'failed'; error: unknown }
  | { step: 'open'; opened: OpenedShare }

/** Opens a public link: asks for its password, reports a closed link, or renders its content. */
export function ShareGate({ kind, linkId, children }: ShareGateProps) {
  const [state, setState] = useState<State>({ step: 'opening' })

  const open = useCallback(
    async (password: string | null) => {
      visitor.enter({ kind, id: linkId, password })
      try {
        const opened = await api.shares.open.query({ kind, id: linkId })
        keepPassword(linkId, password)
        setState({ step: 'open', opened })
      } catch (error) {
        setState(stateAfter(error, password))
      }
    },
    [kind, linkId],
  )

  useEffect(() => {
    setState({ step: 'opening' })
    queryClient.clear()
    void open(keptPassword(linkId))
  }, [open, linkId])
  useShareLook(state.step === 'open' ? state.opened : null)

  switch (state.step) {
    case 'opening':
      return (
        <Main className={styles.screen} aria-busy="true">
          <TableSkeleton />
        </Main>
      )
    case 'password':
      return <PasswordPage problem={state.problem} onTry={open} />
    case 'closed':
      return <ClosedPage />
    case 'failed':
      return (
        <Main className={styles.centre}>
          <ErrorState
            headingLevel={1}
            title={m.shares_this_page_load_failed()}
            error={state.error}
            onRetry={() => void open(keptPassword(linkId))}
          />
        </Main>
      )
    case 'open':
      return children(state.opened)
  }
}

function stateAfter(error: unknown, password: string | null): State {
  const code = appCodeOf(error)
  if (code === 'INVALID_SHARED_VIEW_PASSWORD') {
    return { step: 'password', problem: password === null ? null : m.common_incorrect_password() }
  }
  if (code === 'TOO_MANY_REQUESTS') return { step: 'password', problem: messageOf(error) }
  if (code?.endsWith('NOT_FOUND') || code === 'BAD_REQUEST' || code === 'INVALID_REQUEST_BODY') {
    return { step: 'closed' }
  }
  return { step: 'failed', error }
}

// In the tab's session storage, so that a reload does not ask again.
const keyOf = (linkId: string) => `sheaf.share.${linkId}`

function keepPassword(linkId: string, password: string | null): void {
  if (password === null) return
  try {
    sessionStorage.setItem(keyOf(linkId), password)
  } catch (error) {
    // Embedded pages may have no storage: then each reload asks.
    console.warn('the password is not kept', error)
  }
}

function keptPassword(linkId: string): string | null {
  try {
    return sessionStorage.getItem(keyOf(linkId))
  } catch (error) {
    console.warn('no password is kept', error)
    return null
  }
}

/** Applies title, direction and colours of the link to the page while it is shown. */
function useShareLook(opened: OpenedShare | null): void {
  const { title, settings, theme } = opened ?? {}
  useEffect(() => {
    if (!title || !settings) return
    const page = document.documentElement
    const before = { title: document.title, dir: page.dir }
    document.title = title
    if (settings.rtl) page.dir = 'rtl'
    const { primaryColor, accentColor } = theme ?? DEFAULT_THEME
    const takeOff = applyTheme({ primaryColor: settings.themeColor ?? primaryColor, accentColor })
    return () => {
      document.title = before.title
      page.dir = before.dir
      takeOff()
    }
  }, [title, settings, theme])
}

interface ShareHeaderProps {
  title: string
  description: string | null
  icon?: ReactNode
  /** Buttons at the end. */
  children?: ReactNode
}

/** Header of shared pages: logo, title and buttons. */
export function ShareHeader({ title, description, icon, children }: ShareHeaderProps) {
  return (
    <header className={styles.header}>
      <a
        href="/dashboard"
        target="_blank"
        rel="noreferrer"
        className={styles.logo}
        aria-label={m.shares_sheaf()}
      >
        <Logo />
      </a>
      {icon}
      <h1 className={styles.title} dir="auto" data-tip={description ?? title} data-tip-clipped={!description}>
        {title}
      </h1>
      <span className={styles.space} />
      {children}
    </header>
  )
}
