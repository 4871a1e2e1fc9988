import { Compass } from 'lucide-react'
import { m } from '../../messages.gen.ts'
import { goTo, paths } from '../../navigation/paths.ts'
import { useLocation } from '../../navigation/router.tsx'
import { Button } from '../../ui/button.tsx'
import { Main } from '../../ui/main.tsx'
import { EmptyState } from '../../ui/states.tsx'
import styles from './not-found-screen.module.css'

/** Names the unknown path and leads to the bases. */
export function NotFoundScreen() {
  // Subscribes to the location, because navigation between unknown paths does not re-render this screen otherwise.
  const { href: path } = useLocation()
  return (
    <Main className={styles.centre}>
      <EmptyState
        icon={Compass}
        headingLevel={1}
        title={
          path.startsWith('/error/404') ? m.layout_page_not_found() : m.layout_page_not_found_path({ path })
        }
        text={m.layout_page_missing_hint()}
      >
        <Button variant="primary" onClick={() => goTo(paths.bases())}>
          {m.common_go_to_your_bases()}
        </Button>
      </EmptyState>
    </Main>
  )
}
