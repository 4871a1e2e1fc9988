import { QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { setLocalZone } from '../src/core/dates.ts'
import './tokens.css'
import './base.css'
import { startLanguage, useLanguage } from './i18n.ts'
import { RouterView } from './navigation/router.tsx'
import { closeOnNavigation } from './routes/close-on-navigation.ts'
import { startEarly } from './routes/early-start.ts'
import { followSession } from './routes/follow-session.ts'
import { router } from './routes/router.tsx'
import { timeZone } from './time-zone.ts'
import { queryClient, trpc, trpcReactClient } from './trpc.ts'
import { refuseFiles } from './ui/refuse-files.ts'
import { preventSelectAll } from './ui/shortcuts.ts'

function App() {
  const language = useLanguage()
  return (
    <trpc.Provider client={trpcReactClient} queryClient={queryClient}>
      <QueryClientProvider client={queryClient}>
        {/* Another language is another text everywhere: all is drawn anew. */}
        <RouterView key={language} router={router} />
      </QueryClientProvider>
    </trpc.Provider>
  )
}

const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')

setLocalZone(timeZone)
followSession()
closeOnNavigation()
document.addEventListener('keydown', preventSelectAll)
refuseFiles()
startEarly()
await startLanguage()
router.start()
createRoot(root).render(<App />)
