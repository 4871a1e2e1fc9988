import { CircleAlert, RotateCw } from 'lucide-react'
import type { ComponentType, CSSProperties, ReactNode } from 'react'
import { messageOf } from '../errors.ts'
import { m } from '../messages.gen.ts'
import { Button } from './button.tsx'
import styles from './states.module.css'

/** A grey placeholder with the size of the loading content. Decorative: the surrounding list is `aria-busy`. */
export function Skeleton({
  width = '100%',
  height = 14,
  round,
}: {
  width?: CSSProperties['width']
  height?: number
  round?: boolean
}) {
  return (
    <span
      aria-hidden
      className={styles.skeleton}
      style={{ width, height, borderRadius: round ? '50%' : undefined }}
    />
  )
}

interface EmptyStateProps {
  icon: ComponentType<{ size?: number | string }>
  /** One sentence. */
  title: string
  text?: ReactNode
  /** The next step: one primary button, optionally others. */
  children?: ReactNode
  /** 1 if the page has no other heading. */
  headingLevel?: 1 | 2
}

/** Placeholder for an empty list or screen, with the next step. */
export function EmptyState({ icon: Icon, title, text, children, headingLevel = 2 }: EmptyStateProps) {
  const Heading = `h${headingLevel}` as const
  return (
    <div className={styles.state}>
      <span className={styles.badge}>
        <Icon size={22} />
      </span>
      <Heading className={styles.title}>{title}</Heading>
      {text && <p className={styles.text}>{text}</p>}
      {children && <div className={styles.actions}>{children}</div>}
    </div>
  )
}

/** Placeholder for a failed read: the message, and a retry button. */
export function ErrorState({
  title,
  error,
  onRetry,
  children,
  headingLevel = 2,
}: {
  title: string
  error: unknown
  onRetry?: () => void
  children?: ReactNode
  /** 1 if the page has no other heading. */
  headingLevel?: 1 | 2
}) {
  const Heading = `h${headingLevel}` as const
  return (
    <div className={styles.state} role="alert">
      <span className={styles.badge} data-tone="danger">
        <CircleAlert size={22} />
      </span>
      <Heading className={styles.title}>{title}</Heading>
      <p className={styles.text}>{messageOf(error)}</p>
      <div className={styles.actions}>
        {onRetry && (
          <Button icon={RotateCw} onClick={onRetry}>
            {m.common_try_again()}
          </Button>
        )}
        {children}
      </div>
    </div>
  )
}

/** The error state of a query; "Try again" refetches it. */
export function QueryError({
  title,
  query,
}: {
  title: string
  query: { error: unknown; refetch: () => unknown }
}) {
  return <ErrorState title={title} error={query.error} onRetry={() => void query.refetch()} />
}
