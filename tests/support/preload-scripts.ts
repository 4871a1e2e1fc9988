import { plugin } from 'bun'
import { bundledScripts } from './bundled-scripts.ts'

/** For `bun test --preload`: apps within test processes start their workers and their reader from the bundles. */
await plugin(bundledScripts(process.env.TEST_SCRIPTS ?? ''))
