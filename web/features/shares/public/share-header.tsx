import type { ReactNode } from 'react'
import { m } from '../../../messages.gen.ts'
import { Logo } from '../../layout/logo.tsx'
import styles from './public-share.module.css'

export interface ShareHeaderProps {
  title: string
  description: string | null
  icon?: ReactNode
  /** Buttons at the end. */
  children?: ReactNode
}

/** What stands above everything that is shared: its name, and quietly whose product this is. */
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
