import './zod-without-eval.ts'
import './tokens.css'
import './base.css'

/*
 * The page of public forms. It stands apart from the app: no shell, no grid, no session. So it is light, and may
 * be framed by other sites, because nothing that somebody signed in can do is within reach.
 */

// Loaded separately: this script starts at once while the rest of the page downloads.
const { startPublicForms } = await import('./features/forms/public/start.tsx')
await startPublicForms()
