import { config as configureZod } from 'zod'
import './tokens.css'
import './base.css'

/*
 * The page of public forms. It stands apart from the app: no shell, no grid, no session. So it is light, and may
 * be framed by other sites, because nothing that somebody signed in can do is within reach.
 */

// Zod would try whether it may compile code from text, which the page's security policy reports as an error. It
// tries as the first shape is described, so all that describes any is loaded only now.
configureZod({ jitless: true })
const { startPublicForms } = await import('./features/forms/public/start.tsx')
await startPublicForms()
