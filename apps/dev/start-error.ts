/** What keeps `npm start` from starting, as one sentence for people. */
export class StartError extends Error {}
