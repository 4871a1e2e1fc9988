import { useLocation } from '@tanstack/react-router'
import { Compass } from 'lucide-react'
import { t } from '../../i18n.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { Button } from '../../ui/button.tsx'
import { Main } from '../../ui/main.tsx'
import { EmptyState } from '../../ui/states.tsx'
import styles from './not-found-screen.module.css'

/** A path that leads nowhere: says which, and the way home. */
export function NotFoundScreen() {
  // Read as a hook: from one path that leads nowhere to the next, nothing else changes.
  const { href: path } = useLocation()
  return (
    <Main className={styles.centre}>
      <EmptyState
        icon={Compass}
        headingLevel={1}
        title={path.startsWith('/error/404') ? t('Page not found') : t('Page not found: {path}', { path })}
        text={t('The URL may be mistyped, or the page may have been deleted.')}
      >
        <Button variant="primary" onClick={() => goTo(paths.bases())}>
          {t('Go to your bases')}
        </Button>
      </EmptyState>
    </Main>
  )
}
