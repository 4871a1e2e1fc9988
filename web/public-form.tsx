import './zod-without-eval.ts'
import './tokens.css'
import './base.css'

/*
 * The public form page, separate from the app: no shell, no grid, no session. It is light and other sites may frame
 * it, because it has no access to a session.
 */

// Loaded separately: this script starts at once while the rest of the page downloads.
const { startPublicForms } = await import('./features/forms/public/start.tsx')
await startPublicForms()
