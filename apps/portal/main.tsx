document.title = 'Sluice';
