import './tokens.css'
import './base.css'
import { startPublicForms } from './features/forms/public/start.tsx'
import { refuseFiles } from './ui/refuse-files.ts'

/*
 * The public form page, separate from the app: no shell, no grid, no session. It is light and other sites may frame
 * it, because it has no access to a session.
 */

refuseFiles()
void startPublicForms()
