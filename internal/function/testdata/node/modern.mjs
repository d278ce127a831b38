export const handler = async (event) => ({ module: event });
