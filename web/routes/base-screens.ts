/** What the pages of a base are drawn in, but for their contents; one file, so that it comes with one request. */
export { BaseLayout, TableRouteScreen } from '../features/shell/base-layout.tsx'
export { Shell } from '../features/shell/shell.tsx'
