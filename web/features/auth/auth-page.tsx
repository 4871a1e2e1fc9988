import type { ReactNode } from 'react'
import { m } from '../../messages.gen.ts'
import { useDocumentTitle } from '../../navigation/use-document-title.ts'
import { LanguageSelect } from '../../ui/language-select.tsx'
import { Main } from '../../ui/main.tsx'
import { Logo } from '../layout/logo.tsx'
import styles from './auth-page.module.css'

/** Page layout of sign-in, sign-up and password reset: one centred card. */
export function AuthPage({
  title,
  text,
  children,
  below,
}: {
  title: string
  text?: ReactNode
  children?: ReactNode
  below?: ReactNode
}) {
  useDocumentTitle(title)
  return (
    <Main className={styles.page}>
      <div className={styles.card}>
        <header className={styles.header}>
          <Logo size={40} />
          <h1 className={styles.title}>{title}</h1>
          {text && <p className={styles.text}>{text}</p>}
        </header>
        {children}
        {below && <p className={styles.below}>{below}</p>}
      </div>
      <footer className={styles.footer}>
        <span>{m.auth_sheaf_your_own_database()}</span>
        <LanguageSelect />
      </footer>
    </Main>
  )
}
