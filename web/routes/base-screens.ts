/** Layout and screens of a base's pages, as one module, so that they take one request. */
export { BaseLayout, TableRouteScreen } from '../features/shell/base-layout.tsx'
export { Shell } from '../features/shell/shell.tsx'
