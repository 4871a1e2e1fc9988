import { QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { setLocalZone } from '../src/core/dates.ts'
import './tokens.css'
import './base.css'
import { shareRouter } from './features/shares/public/share-router.tsx'
import { startLanguage } from './i18n.ts'
import { RouterView } from './navigation/router.tsx'
import { closeOnNavigation } from './routes/close-on-navigation.ts'
import { timeZone } from './time-zone.ts'
import { queryClient, trpc, trpcReactClient } from './trpc.ts'
import { refuseFiles } from './ui/refuse-files.ts'
import { preventSelectAll } from './ui/shortcuts.ts'

/*
 * The page of shared views, bases and diagrams, separate from the app. Other sites may frame it, because it has no
 * access to a session.
 */
const root = document.getElementById('root')
if (!root) throw new Error('public-share.html has no #root')

setLocalZone(timeZone)
closeOnNavigation()
document.addEventListener('keydown', preventSelectAll)
refuseFiles()
await startLanguage()
shareRouter.start()
createRoot(root).render(
  <trpc.Provider client={trpcReactClient} queryClient={queryClient}>
    <QueryClientProvider client={queryClient}>
      <RouterView router={shareRouter} />
    </QueryClientProvider>
  </trpc.Provider>,
)
